$node_(0) set X_ 113.45
$node_(0) set Y_ 700.294
$node_(1) set X_ 819.425
$node_(1) set Y_ 935.7
$node_(2) set X_ 157.219
$node_(2) set Y_ 508.001
$node_(3) set X_ 340.353
$node_(3) set Y_ 195.704
$node_(4) set X_ 801.611
$node_(4) set Y_ 324.697
$node_(5) set X_ 657.544
$node_(5) set Y_ 75.661
$node_(6) set X_ 373.435
$node_(6) set Y_ 416.953
$node_(7) set X_ 487.88
$node_(7) set Y_ 650.231
$node_(8) set X_ 73.79
$node_(8) set Y_ 751.521
$node_(9) set X_ 32.393
$node_(9) set Y_ 244.069
$node_(10) set X_ 788.85
$node_(10) set Y_ 754.002
$node_(11) set X_ 244.243
$node_(11) set Y_ 516.198
$node_(12) set X_ 275.069
$node_(12) set Y_ 926.961
$node_(13) set X_ 65.333
$node_(13) set Y_ 576.881
$node_(14) set X_ 774.547
$node_(14) set Y_ 241.151
$node_(15) set X_ 660.367
$node_(15) set Y_ 218.53
$ns_ at 2.0 "$node_(0) setdest 612.975 72.867 14.3288"
$ns_ at 2.0 "$node_(1) setdest 669.645 191.104 22.4487"
$ns_ at 2.0 "$node_(2) setdest 706.751 856.313 16.3471"
$ns_ at 2.0 "$node_(3) setdest 883.123 415.303 20.1801"
$ns_ at 2.0 "$node_(4) setdest 322.043 220.124 24.3549"
$ns_ at 2.0 "$node_(5) setdest 854.566 313.387 21.5923"
$ns_ at 2.0 "$node_(6) setdest 223.44 262.505 15.4204"
$ns_ at 2.0 "$node_(7) setdest 522.325 869.768 20.831"
$ns_ at 2.0 "$node_(8) setdest 299.682 746.147 13.4938"
$ns_ at 2.0 "$node_(9) setdest 446.456 913.858 17.8036"
$ns_ at 2.0 "$node_(10) setdest 197.499 142.054 22.4063"
$ns_ at 2.0 "$node_(11) setdest 679.531 150.607 13.0397"
$ns_ at 2.0 "$node_(12) setdest 976.963 407.199 27.1039"
$ns_ at 2.0 "$node_(13) setdest 187.655 735.685 17.8246"
$ns_ at 2.0 "$node_(14) setdest 168.271 136.831 20.417"
$ns_ at 2.0 "$node_(15) setdest 668.081 350.062 12.0207"
$ns_ at 14.6679 "$node_(7) setdest 925.548 854.449 21.6001"
$ns_ at 14.9609 "$node_(15) setdest 138.656 193.715 17.3331"
$ns_ at 15.2459 "$node_(13) setdest 849.582 811.917 29.3103"
$ns_ at 17.9618 "$node_(6) setdest 846.137 29.191 12.0764"
$ns_ at 18.2994 "$node_(5) setdest 75.807 334.096 24.1631"
$ns_ at 20.7452 "$node_(8) setdest 832.982 946.643 22.3613"
$ns_ at 24.1535 "$node_(4) setdest 886.945 6.834 28.2702"
$ns_ at 33.0143 "$node_(3) setdest 375.642 516.419 27.5595"
$ns_ at 34.131 "$node_(14) setdest 338.682 524.453 22.4187"
$ns_ at 35.349 "$node_(7) setdest 33.521 920.077 25.181"
$ns_ at 36.2237 "$node_(12) setdest 448.262 345.047 22.0537"
$ns_ at 37.8332 "$node_(1) setdest 890.139 215.789 12.4187"
$ns_ at 39.9786 "$node_(13) setdest 827.351 176.392 13.0252"
$ns_ at 41.9797 "$node_(10) setdest 322.717 182.572 13.8913"
$ns_ at 43.8003 "$node_(2) setdest 573.063 894.537 10.3468"
$ns_ at 47.5127 "$node_(4) setdest 395.984 195.017 29.2785"
$ns_ at 47.5936 "$node_(11) setdest 643.732 296.65 14.8194"
$ns_ at 48.2242 "$node_(8) setdest 915.595 977.427 16.1777"
$ns_ at 48.2294 "$node_(9) setdest 390.699 86.294 21.2166"
$ns_ at 48.8091 "$node_(15) setdest 323.196 303.844 28.3659"
$ns_ at 52.5401 "$node_(5) setdest 984.666 241.083 18.956"
$ns_ at 53.454 "$node_(10) setdest 316.65 647.076 11.466"
$ns_ at 53.7903 "$node_(3) setdest 723.346 441.579 16.0612"
$ns_ at 55.0183 "$node_(14) setdest 525.092 640.985 11.3381"
$ns_ at 55.6738 "$node_(8) setdest 197.366 849.846 18.4274"
$ns_ at 57.6991 "$node_(1) setdest 641.218 871.931 23.9032"
$ns_ at 58.3853 "$node_(15) setdest 771.486 144.368 11.2614"
$ns_ at 59.2388 "$node_(2) setdest 544.917 155.126 23.6863"
$ns_ at 59.7402 "$node_(11) setdest 674.573 697.299 24.3108"
$ns_ at 59.9706 "$node_(0) setdest 636.222 135.146 27.7744"
$ns_ at 62.3622 "$node_(12) setdest 307.519 241.921 10.4437"
$ns_ at 64.364 "$node_(0) setdest 491.062 888.529 23.9687"
$ns_ at 67.4709 "$node_(4) setdest 967.583 385.903 24.6791"
$ns_ at 72.8693 "$node_(7) setdest 3.06 368.188 25.9681"
$ns_ at 75.0255 "$node_(6) setdest 636.077 969.709 29.3467"
$ns_ at 76.4075 "$node_(14) setdest 194.138 871.635 11.2141"
$ns_ at 77.9347 "$node_(3) setdest 59.515 560.143 19.1441"
$ns_ at 78.2692 "$node_(11) setdest 635.376 298.44 29.0384"
$ns_ at 81.069 "$node_(12) setdest 315.242 460.668 11.2078"
$ns_ at 89.058 "$node_(1) setdest 724.604 189.012 27.9761"
$ns_ at 89.3233 "$node_(9) setdest 123.456 597.697 23.1585"
$ns_ at 90.8004 "$node_(13) setdest 950.662 939.766 11.7479"
$ns_ at 92.4782 "$node_(2) setdest 696.842 534.251 20.8097"
$ns_ at 93.8895 "$node_(4) setdest 29.882 939.683 27.3581"
$ns_ at 94.071 "$node_(11) setdest 533.408 912.358 21.8775"
$ns_ at 95.9689 "$node_(10) setdest 608.285 177.715 24.1091"
$ns_ at 96.1543 "$node_(7) setdest 341.504 389.497 27.3678"
$ns_ at 97.2601 "$node_(8) setdest 167.953 337.201 15.8013"
$ns_ at 98.3741 "$node_(0) setdest 711.886 480.165 16.72"
$ns_ at 102.5985 "$node_(12) setdest 920.52 936.162 25.4969"
$ns_ at 102.6368 "$node_(15) setdest 328.456 607.915 15.9892"
$ns_ at 102.7362 "$node_(5) setdest 431.831 668.375 13.3161"
$ns_ at 109.8636 "$node_(6) setdest 280.134 360.738 15.737"
$ns_ at 110.5453 "$node_(7) setdest 355.743 717.127 29.5827"
$ns_ at 114.1053 "$node_(2) setdest 415.526 427.542 12.9408"
$ns_ at 114.3799 "$node_(14) setdest 806.477 708.833 18.7065"
$ns_ at 115.159 "$node_(3) setdest 332.159 77.774 20.3399"
$ns_ at 115.6501 "$node_(1) setdest 428.319 212.004 19.4686"
$ns_ at 116.2394 "$node_(9) setdest 193.605 846.514 19.7417"
$ns_ at 120.8891 "$node_(10) setdest 683.073 564.044 20.9646"
$ns_ at 123.6308 "$node_(7) setdest 64.579 172.147 28.912"
$ns_ at 124.517 "$node_(11) setdest 609.684 369.916 10.3573"
$ns_ at 128.14 "$node_(0) setdest 717.384 798.89 16.1211"
$ns_ at 131.3344 "$node_(9) setdest 433.613 750.176 11.4952"
$ns_ at 131.7566 "$node_(8) setdest 26.694 97.819 17.0193"
$ns_ at 132.9145 "$node_(1) setdest 669.609 378.365 17.3938"
$ns_ at 134.7869 "$node_(12) setdest 642.889 34.724 25.3237"
$ns_ at 135.6955 "$node_(4) setdest 383.589 888.952 18.3789"
$ns_ at 139.3553 "$node_(2) setdest 668.529 597.419 17.4017"
$ns_ at 141.6589 "$node_(10) setdest 370.926 0.364 28.4417"
$ns_ at 144.4004 "$node_(3) setdest 217.37 397.588 25.6055"
$ns_ at 144.7395 "$node_(15) setdest 978.673 243.814 13.7001"
$ns_ at 147.0019 "$node_(7) setdest 595.318 853.542 16.316"
$ns_ at 149.9136 "$node_(0) setdest 103.905 173.025 21.7599"
