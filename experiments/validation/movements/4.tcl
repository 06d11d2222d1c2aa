$node_(0) set X_ 431.456
$node_(0) set Y_ 892.407
$node_(1) set X_ 366.042
$node_(1) set Y_ 10.907
$node_(2) set X_ 260.651
$node_(2) set Y_ 161.73
$node_(3) set X_ 540.619
$node_(3) set Y_ 440.51
$node_(4) set X_ 371.536
$node_(4) set Y_ 543.8
$node_(5) set X_ 902.186
$node_(5) set Y_ 162.052
$node_(6) set X_ 61.178
$node_(6) set Y_ 689.105
$node_(7) set X_ 316.137
$node_(7) set Y_ 193.733
$node_(8) set X_ 493.523
$node_(8) set Y_ 242.493
$node_(9) set X_ 926.194
$node_(9) set Y_ 27.767
$node_(10) set X_ 295.356
$node_(10) set Y_ 974.605
$node_(11) set X_ 945.336
$node_(11) set Y_ 756.717
$node_(12) set X_ 467.687
$node_(12) set Y_ 43.552
$node_(13) set X_ 440.156
$node_(13) set Y_ 187.934
$node_(14) set X_ 808.651
$node_(14) set Y_ 673.608
$node_(15) set X_ 907.797
$node_(15) set Y_ 220.898
$ns_ at 2.0 "$node_(0) setdest 859.117 491.774 17.8916"
$ns_ at 2.0 "$node_(1) setdest 613.71 132.694 20.7399"
$ns_ at 2.0 "$node_(2) setdest 504.518 967.541 18.8414"
$ns_ at 2.0 "$node_(3) setdest 661.771 51.566 16.6464"
$ns_ at 2.0 "$node_(4) setdest 692.853 276.507 25.3018"
$ns_ at 2.0 "$node_(5) setdest 48.881 777.333 13.7853"
$ns_ at 2.0 "$node_(6) setdest 360.077 784.886 11.1828"
$ns_ at 2.0 "$node_(7) setdest 181.961 493.279 10.5517"
$ns_ at 2.0 "$node_(8) setdest 133.156 233.014 23.2644"
$ns_ at 2.0 "$node_(9) setdest 72.242 531.792 24.7823"
$ns_ at 2.0 "$node_(10) setdest 817.529 366.872 19.1959"
$ns_ at 2.0 "$node_(11) setdest 492.258 301.691 20.2689"
$ns_ at 2.0 "$node_(12) setdest 432.247 762.096 20.3888"
$ns_ at 2.0 "$node_(13) setdest 418.271 260.265 17.9294"
$ns_ at 2.0 "$node_(14) setdest 130.386 951.97 27.1146"
$ns_ at 2.0 "$node_(15) setdest 455.632 494.433 12.47"
$ns_ at 8.2148 "$node_(13) setdest 687.626 814.548 23.9603"
$ns_ at 17.3073 "$node_(1) setdest 907.145 564.187 27.3955"
$ns_ at 19.4954 "$node_(8) setdest 168.679 51.164 17.7704"
$ns_ at 20.519 "$node_(4) setdest 46.502 599.895 24.0109"
$ns_ at 28.4723 "$node_(3) setdest 191.303 186.539 17.411"
$ns_ at 31.0394 "$node_(14) setdest 12.374 433.016 27.6839"
$ns_ at 31.9221 "$node_(8) setdest 38.621 666.068 26.7402"
$ns_ at 32.0672 "$node_(6) setdest 736.945 831.944 22.7166"
$ns_ at 35.1063 "$node_(7) setdest 775.933 631.073 17.085"
$ns_ at 35.6805 "$node_(11) setdest 360.707 147.401 25.9995"
$ns_ at 35.9351 "$node_(13) setdest 158.899 345.516 22.7111"
$ns_ at 36.753 "$node_(0) setdest 586.718 920.68 18.9748"
$ns_ at 38.3547 "$node_(1) setdest 249.73 663.112 28.7202"
$ns_ at 39.2849 "$node_(12) setdest 842.376 308.023 28.4256"
$ns_ at 44.0125 "$node_(9) setdest 84.565 558.761 10.3496"
$ns_ at 45.479 "$node_(11) setdest 683.565 878.657 29.643"
$ns_ at 45.7408 "$node_(10) setdest 749.389 360.294 17.7798"
$ns_ at 46.3789 "$node_(15) setdest 881.328 972.099 14.4535"
$ns_ at 48.6837 "$node_(2) setdest 918.263 367.129 25.3243"
$ns_ at 48.8775 "$node_(9) setdest 605.116 902.307 26.8054"
$ns_ at 50.7861 "$node_(6) setdest 909.282 132.048 20.4746"
$ns_ at 51.591 "$node_(10) setdest 428.784 332.446 12.0349"
$ns_ at 52.2637 "$node_(14) setdest 366.225 944.289 22.6256"
$ns_ at 52.6194 "$node_(4) setdest 28.485 548.227 16.2005"
$ns_ at 57.4264 "$node_(8) setdest 269.143 882.411 25.0062"
$ns_ at 57.997 "$node_(4) setdest 473.422 99.167 29.1852"
$ns_ at 58.5837 "$node_(3) setdest 733.911 385.47 23.4028"
$ns_ at 62.8103 "$node_(12) setdest 582.615 405.312 11.5714"
$ns_ at 63.5028 "$node_(1) setdest 53.306 331.202 13.6651"
$ns_ at 65.5304 "$node_(0) setdest 181.786 537.671 25.881"
$ns_ at 69.0557 "$node_(13) setdest 940.916 783.915 28.8591"
$ns_ at 72.0689 "$node_(8) setdest 582.918 305.893 26.8326"
$ns_ at 72.7952 "$node_(7) setdest 942.439 927.938 23.6499"
$ns_ at 74.145 "$node_(9) setdest 512.745 918.358 25.6249"
$ns_ at 74.4452 "$node_(11) setdest 907.867 814.649 10.9627"
$ns_ at 79.4768 "$node_(2) setdest 463.583 525.284 15.28"
$ns_ at 79.8038 "$node_(9) setdest 939.576 681.978 23.3331"
$ns_ at 80.313 "$node_(5) setdest 867.212 953.438 14.0491"
$ns_ at 80.3309 "$node_(10) setdest 450.205 330.985 13.8351"
$ns_ at 81.6572 "$node_(4) setdest 464.689 616.642 18.4747"
$ns_ at 81.745 "$node_(14) setdest 874.786 679.832 19.3207"
$ns_ at 83.8828 "$node_(10) setdest 31.714 200.186 23.0031"
$ns_ at 85.2783 "$node_(3) setdest 168.688 371.643 14.8519"
$ns_ at 87.9907 "$node_(6) setdest 29.175 297.401 11.0059"
$ns_ at 88.7817 "$node_(12) setdest 714.062 879.694 10.4745"
$ns_ at 89.0665 "$node_(0) setdest 696.808 543.222 23.6044"
$ns_ at 89.1873 "$node_(7) setdest 632.012 233.171 12.3199"
$ns_ at 92.647 "$node_(15) setdest 166.631 289.712 29.7448"
$ns_ at 93.7263 "$node_(1) setdest 886.961 866.998 22.2702"
$ns_ at 97.7224 "$node_(11) setdest 395.037 540.478 27.4999"
$ns_ at 98.5307 "$node_(8) setdest 99.668 144.647 26.1591"
$ns_ at 102.121 "$node_(13) setdest 980.401 370.681 11.9321"
$ns_ at 102.7146 "$node_(9) setdest 220.892 55.784 12.4032"
$ns_ at 104.9435 "$node_(10) setdest 783.874 30.513 10.1383"
$ns_ at 111.6711 "$node_(4) setdest 749.48 626.553 10.2762"
$ns_ at 112.8866 "$node_(0) setdest 851.225 794.482 22.1571"
$ns_ at 112.9821 "$node_(2) setdest 721.362 846.236 27.759"
$ns_ at 113.4133 "$node_(14) setdest 53.996 274.911 13.4927"
$ns_ at 120.0054 "$node_(8) setdest 918.912 217.176 19.0859"
$ns_ at 120.8686 "$node_(11) setdest 613.365 175.452 19.5442"
$ns_ at 125.347 "$node_(3) setdest 6.246 33.403 17.0786"
$ns_ at 127.868 "$node_(15) setdest 579.237 70.346 22.0671"
$ns_ at 128.1969 "$node_(0) setdest 168.991 761.494 12.6881"
$ns_ at 129.8117 "$node_(2) setdest 678.717 139.119 13.4224"
$ns_ at 137.7774 "$node_(12) setdest 341.548 946.511 15.0355"
$ns_ at 138.9109 "$node_(13) setdest 736.985 683.137 25.6382"
$ns_ at 140.2247 "$node_(1) setdest 985.398 839.436 13.9842"
$ns_ at 141.4015 "$node_(4) setdest 945.331 132.237 20.6684"
$ns_ at 141.8945 "$node_(5) setdest 323.747 720.319 17.4863"
$ns_ at 144.6314 "$node_(11) setdest 986.361 175.262 22.3754"
$ns_ at 149.3175 "$node_(3) setdest 840.506 458.149 29.0193"
$ns_ at 149.5346 "$node_(1) setdest 745.9 978.271 10.0521"
