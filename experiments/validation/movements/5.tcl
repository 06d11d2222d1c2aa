$node_(0) set X_ 386.768
$node_(0) set Y_ 752.307
$node_(1) set X_ 461.051
$node_(1) set Y_ 157.315
$node_(2) set X_ 970.752
$node_(2) set Y_ 708.726
$node_(3) set X_ 912.973
$node_(3) set Y_ 421.886
$node_(4) set X_ 540.557
$node_(4) set Y_ 1.683
$node_(5) set X_ 400.053
$node_(5) set Y_ 839.175
$node_(6) set X_ 902.63
$node_(6) set Y_ 16.739
$node_(7) set X_ 429.48
$node_(7) set Y_ 477.03
$node_(8) set X_ 125.983
$node_(8) set Y_ 678.63
$node_(9) set X_ 918.12
$node_(9) set Y_ 102.713
$node_(10) set X_ 787.205
$node_(10) set Y_ 633.752
$node_(11) set X_ 918.959
$node_(11) set Y_ 358.384
$node_(12) set X_ 602.794
$node_(12) set Y_ 780.68
$node_(13) set X_ 202.365
$node_(13) set Y_ 959.413
$node_(14) set X_ 85.651
$node_(14) set Y_ 242.493
$node_(15) set X_ 61.684
$node_(15) set Y_ 394.73
$ns_ at 2.0 "$node_(0) setdest 232.709 99.339 13.7592"
$ns_ at 2.0 "$node_(1) setdest 455.232 114.865 29.7493"
$ns_ at 2.0 "$node_(2) setdest 372.734 447.888 12.4558"
$ns_ at 2.0 "$node_(3) setdest 402.211 680.644 27.5123"
$ns_ at 2.0 "$node_(4) setdest 133.835 203.149 21.772"
$ns_ at 2.0 "$node_(5) setdest 389.14 987.076 17.1073"
$ns_ at 2.0 "$node_(6) setdest 309.593 714.773 17.6784"
$ns_ at 2.0 "$node_(7) setdest 615.918 534.591 28.3526"
$ns_ at 2.0 "$node_(8) setdest 36.222 535.359 15.6922"
$ns_ at 2.0 "$node_(9) setdest 401.567 512.162 23.3648"
$ns_ at 2.0 "$node_(10) setdest 574.414 647.563 16.8925"
$ns_ at 2.0 "$node_(11) setdest 985.658 980.622 14.3933"
$ns_ at 2.0 "$node_(12) setdest 511.592 678.387 26.5977"
$ns_ at 2.0 "$node_(13) setdest 146.89 467.494 12.4434"
$ns_ at 2.0 "$node_(14) setdest 702.844 610.752 27.8649"
$ns_ at 2.0 "$node_(15) setdest 846.941 695.115 24.8903"
$ns_ at 5.4403 "$node_(1) setdest 180.081 875.652 13.1207"
$ns_ at 9.1526 "$node_(12) setdest 622.521 47.013 21.9737"
$ns_ at 10.882 "$node_(7) setdest 83.29 690.163 25.0958"
$ns_ at 12.669 "$node_(5) setdest 247.138 178.62 28.1454"
$ns_ at 14.7739 "$node_(8) setdest 168.533 553.213 18.5145"
$ns_ at 16.6233 "$node_(10) setdest 657.685 813.523 26.9601"
$ns_ at 23.9851 "$node_(8) setdest 304.433 71.317 24.8323"
$ns_ at 24.8113 "$node_(3) setdest 277.323 869.59 16.3116"
$ns_ at 24.8472 "$node_(4) setdest 433.513 945.566 13.3491"
$ns_ at 25.5105 "$node_(10) setdest 497.011 233.437 18.1446"
$ns_ at 29.7926 "$node_(14) setdest 584.78 428.343 27.4609"
$ns_ at 32.2111 "$node_(9) setdest 719.476 700.519 26.1576"
$ns_ at 34.9926 "$node_(7) setdest 319.991 27.495 27.0412"
$ns_ at 37.7782 "$node_(15) setdest 616.702 190.248 20.3703"
$ns_ at 39.7051 "$node_(14) setdest 215.527 702.66 25.7559"
$ns_ at 40.3258 "$node_(12) setdest 847.411 885.793 25.9433"
$ns_ at 40.6965 "$node_(3) setdest 338.852 0.597 26.0101"
$ns_ at 43.7831 "$node_(13) setdest 63.972 571.869 26.7047"
$ns_ at 43.833 "$node_(5) setdest 914.197 439.817 19.2268"
$ns_ at 46.148 "$node_(8) setdest 740.978 42.685 20.8236"
$ns_ at 47.4787 "$node_(11) setdest 438.708 538.912 19.9642"
$ns_ at 48.3378 "$node_(9) setdest 658.811 891.5 19.4423"
$ns_ at 50.7748 "$node_(13) setdest 134.547 898.711 21.7803"
$ns_ at 52.7598 "$node_(0) setdest 380.609 985.564 20.222"
$ns_ at 55.8112 "$node_(6) setdest 974.743 999.63 19.9625"
$ns_ at 56.3794 "$node_(2) setdest 1.681 529.034 22.5781"
$ns_ at 59.565 "$node_(14) setdest 653.282 488.681 22.631"
$ns_ at 60.6444 "$node_(9) setdest 231.459 755.38 22.835"
$ns_ at 60.6843 "$node_(10) setdest 238.082 660.131 29.4251"
$ns_ at 63.0148 "$node_(7) setdest 894.509 289.821 25.9041"
$ns_ at 67.0182 "$node_(15) setdest 165.222 404.296 10.7846"
$ns_ at 68.127 "$node_(13) setdest 430.203 286.331 21.2558"
$ns_ at 69.0997 "$node_(1) setdest 712.623 936.368 12.441"
$ns_ at 69.157 "$node_(8) setdest 373.818 242.459 18.9248"
$ns_ at 75.202 "$node_(2) setdest 465.94 283.707 23.0302"
$ns_ at 75.799 "$node_(12) setdest 550.19 822.867 23.5871"
$ns_ at 76.19 "$node_(3) setdest 533.563 229.115 15.3422"
$ns_ at 79.6464 "$node_(10) setdest 468.243 858.918 22.1943"
$ns_ at 82.2856 "$node_(9) setdest 872.183 911.296 25.5286"
$ns_ at 83.0921 "$node_(5) setdest 853.491 373.794 25.6682"
$ns_ at 83.0953 "$node_(14) setdest 42.842 354.266 11.154"
$ns_ at 84.6937 "$node_(11) setdest 829.659 241.632 22.9878"
$ns_ at 86.8226 "$node_(4) setdest 237.549 41.441 28.6734"
$ns_ at 88.5863 "$node_(5) setdest 487.446 845.606 17.0268"
$ns_ at 89.3961 "$node_(7) setdest 746.233 961.238 27.3227"
$ns_ at 90.6793 "$node_(12) setdest 427.719 957.118 21.8192"
$ns_ at 93.2439 "$node_(8) setdest 160.239 186.753 28.9647"
$ns_ at 94.0582 "$node_(6) setdest 487.586 437.242 20.9807"
$ns_ at 95.3492 "$node_(10) setdest 755.075 98.026 27.4258"
$ns_ at 97.7583 "$node_(3) setdest 528.529 991.635 21.3752"
$ns_ at 99.1907 "$node_(0) setdest 426.451 603.441 19.0095"
$ns_ at 100.0022 "$node_(2) setdest 762.014 215.646 29.5845"
$ns_ at 101.0078 "$node_(12) setdest 716.401 761.714 14.2977"
$ns_ at 102.119 "$node_(13) setdest 423.856 680.045 27.2239"
$ns_ at 102.8644 "$node_(8) setdest 628.791 892.188 13.8434"
$ns_ at 108.0589 "$node_(11) setdest 856.388 412.035 29.7953"
$ns_ at 110.1163 "$node_(9) setdest 350.51 527.984 10.8329"
$ns_ at 112.271 "$node_(2) setdest 143.67 413.693 19.4333"
$ns_ at 114.1824 "$node_(1) setdest 458.564 844.265 15.4387"
$ns_ at 115.3483 "$node_(15) setdest 288.816 700.699 13.3907"
$ns_ at 115.8479 "$node_(11) setdest 429.898 766.037 10.7285"
$ns_ at 116.5618 "$node_(7) setdest 323.114 11.474 18.4519"
$ns_ at 118.583 "$node_(13) setdest 109.159 557.681 17.5284"
$ns_ at 121.0866 "$node_(4) setdest 113.014 567.548 28.7505"
$ns_ at 121.4365 "$node_(0) setdest 136.702 874.251 19.0541"
$ns_ at 125.6579 "$node_(5) setdest 6.083 338.277 24.068"
$ns_ at 126.9986 "$node_(10) setdest 427.438 43.622 19.2484"
$ns_ at 127.3892 "$node_(12) setdest 316.215 401.561 12.3423"
$ns_ at 131.5214 "$node_(6) setdest 383.383 961.834 10.2389"
$ns_ at 133.6864 "$node_(1) setdest 194.469 977.439 17.823"
$ns_ at 135.4322 "$node_(3) setdest 677.946 510.073 11.9664"
$ns_ at 139.846 "$node_(13) setdest 618.807 674.57 17.7566"
$ns_ at 141.1347 "$node_(14) setdest 848.68 927.029 28.2468"
$ns_ at 141.3305 "$node_(15) setdest 270.756 615.607 26.7427"
$ns_ at 141.8914 "$node_(4) setdest 407.28 978.128 22.2908"
$ns_ at 144.251 "$node_(0) setdest 954.679 938.975 26.622"
$ns_ at 146.2532 "$node_(10) setdest 173.23 763.043 16.8508"
$ns_ at 146.5832 "$node_(15) setdest 666.933 693.122 24.5988"
$ns_ at 147.6819 "$node_(2) setdest 61.794 381.661 25.3904"
