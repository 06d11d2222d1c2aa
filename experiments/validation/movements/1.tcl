$node_(0) set X_ 566.562
$node_(0) set Y_ 745.782
$node_(1) set X_ 65.96
$node_(1) set Y_ 81.415
$node_(2) set X_ 861.828
$node_(2) set Y_ 708.179
$node_(3) set X_ 393.662
$node_(3) set Y_ 87.731
$node_(4) set X_ 823.336
$node_(4) set Y_ 972.688
$node_(5) set X_ 388.108
$node_(5) set Y_ 96.802
$node_(6) set X_ 847.805
$node_(6) set Y_ 909.76
$node_(7) set X_ 238.897
$node_(7) set Y_ 322.504
$node_(8) set X_ 831.344
$node_(8) set Y_ 252.012
$node_(9) set X_ 353.151
$node_(9) set Y_ 857.994
$node_(10) set X_ 116.25
$node_(10) set Y_ 429.546
$node_(11) set X_ 479.671
$node_(11) set Y_ 983.565
$node_(12) set X_ 601.072
$node_(12) set Y_ 583.233
$node_(13) set X_ 249.344
$node_(13) set Y_ 544.593
$node_(14) set X_ 826.388
$node_(14) set Y_ 737.377
$node_(15) set X_ 766.367
$node_(15) set Y_ 666.428
$ns_ at 2.0 "$node_(0) setdest 971.003 444.359 18.8853"
$ns_ at 2.0 "$node_(1) setdest 495.88 123.109 15.7382"
$ns_ at 2.0 "$node_(2) setdest 236.361 656.236 27.3782"
$ns_ at 2.0 "$node_(3) setdest 607.05 155.478 29.1666"
$ns_ at 2.0 "$node_(4) setdest 691.086 565.624 19.4118"
$ns_ at 2.0 "$node_(5) setdest 952.891 596.939 11.8781"
$ns_ at 2.0 "$node_(6) setdest 386.156 149.22 22.7261"
$ns_ at 2.0 "$node_(7) setdest 242.094 520.21 21.7351"
$ns_ at 2.0 "$node_(8) setdest 245.384 510.011 14.3365"
$ns_ at 2.0 "$node_(9) setdest 437.935 387.061 11.2536"
$ns_ at 2.0 "$node_(10) setdest 680.794 321.424 26.6002"
$ns_ at 2.0 "$node_(11) setdest 68.031 154.546 18.0389"
$ns_ at 2.0 "$node_(12) setdest 920.423 82.648 17.9428"
$ns_ at 2.0 "$node_(13) setdest 751.788 429.051 14.851"
$ns_ at 2.0 "$node_(14) setdest 187.261 437.348 20.4322"
$ns_ at 2.0 "$node_(15) setdest 598.769 716.346 19.3297"
$ns_ at 11.676 "$node_(3) setdest 875.615 526.456 11.3674"
$ns_ at 13.0469 "$node_(15) setdest 293.114 538.64 11.323"
$ns_ at 13.0974 "$node_(7) setdest 78.159 459.905 10.9356"
$ns_ at 25.609 "$node_(10) setdest 917.653 292.013 11.355"
$ns_ at 26.0489 "$node_(4) setdest 623.987 860.155 26.115"
$ns_ at 26.9241 "$node_(2) setdest 839.331 324.433 13.1836"
$ns_ at 30.7091 "$node_(0) setdest 762.894 877.349 20.4613"
$ns_ at 31.0704 "$node_(7) setdest 661.931 36.169 11.6886"
$ns_ at 31.4451 "$node_(1) setdest 47.901 515.52 24.2754"
$ns_ at 37.0927 "$node_(12) setdest 496.23 345.138 28.8411"
$ns_ at 38.5555 "$node_(14) setdest 330.109 5.464 10.5613"
$ns_ at 38.7154 "$node_(13) setdest 924.264 962.795 14.1189"
$ns_ at 39.6161 "$node_(4) setdest 109.048 649.585 14.4155"
$ns_ at 43.1482 "$node_(6) setdest 597.459 184.958 12.0031"
$ns_ at 46.2718 "$node_(15) setdest 347.882 453.563 18.6133"
$ns_ at 46.5201 "$node_(9) setdest 427.827 423.291 10.4834"
$ns_ at 48.6287 "$node_(10) setdest 305.586 729.444 27.4121"
$ns_ at 48.6583 "$node_(8) setdest 808.313 231.056 15.7743"
$ns_ at 52.108 "$node_(9) setdest 880.634 326.119 10.7457"
$ns_ at 53.7078 "$node_(15) setdest 769.558 141.908 13.427"
$ns_ at 53.9655 "$node_(3) setdest 752.351 534.066 24.4081"
$ns_ at 55.3109 "$node_(11) setdest 203.275 706.021 22.8784"
$ns_ at 56.1878 "$node_(0) setdest 285.509 793.997 18.0828"
$ns_ at 56.3889 "$node_(12) setdest 725.798 52.583 22.5972"
$ns_ at 57.9779 "$node_(1) setdest 43.748 997.748 21.957"
$ns_ at 61.0253 "$node_(3) setdest 279.936 37.434 10.4403"
$ns_ at 63.0022 "$node_(6) setdest 988.481 405.44 19.478"
$ns_ at 67.5117 "$node_(5) setdest 855.959 843.804 10.0023"
$ns_ at 74.8455 "$node_(12) setdest 202.596 315.667 19.7226"
$ns_ at 78.0732 "$node_(10) setdest 403.188 153.402 29.6311"
$ns_ at 80.2085 "$node_(4) setdest 422.734 887.167 23.7014"
$ns_ at 80.4436 "$node_(13) setdest 468.823 849.946 12.5449"
$ns_ at 81.1279 "$node_(2) setdest 893.939 912.69 16.0371"
$ns_ at 81.9411 "$node_(1) setdest 586.595 397.169 18.7797"
$ns_ at 82.1298 "$node_(11) setdest 85.961 735.027 27.6782"
$ns_ at 83.6274 "$node_(14) setdest 194.822 262.672 22.8339"
$ns_ at 84.9872 "$node_(0) setdest 605.42 454.938 20.6016"
$ns_ at 88.0487 "$node_(6) setdest 562.588 693.734 24.804"
$ns_ at 88.4959 "$node_(11) setdest 31.311 827.222 11.5158"
$ns_ at 90.4861 "$node_(8) setdest 883.766 296.095 13.2006"
$ns_ at 94.7594 "$node_(15) setdest 72.411 253.98 19.1281"
$ns_ at 94.7842 "$node_(7) setdest 389.318 652.328 24.7681"
$ns_ at 96.0269 "$node_(5) setdest 308.684 736.13 21.7771"
$ns_ at 97.2058 "$node_(9) setdest 114.576 339.396 28.492"
$ns_ at 98.3549 "$node_(14) setdest 494.379 221.981 16.5124"
$ns_ at 98.811 "$node_(4) setdest 940.839 750.572 12.535"
$ns_ at 99.7907 "$node_(10) setdest 96.247 302.384 17.4904"
$ns_ at 99.8027 "$node_(11) setdest 709.986 333.619 10.2667"
$ns_ at 100.0324 "$node_(8) setdest 935.25 2.819 13.2108"
$ns_ at 106.5384 "$node_(12) setdest 176.23 347.819 19.2569"
$ns_ at 109.6145 "$node_(0) setdest 435.965 167.035 22.9067"
$ns_ at 110.6977 "$node_(12) setdest 579.27 138.779 28.1559"
$ns_ at 110.783 "$node_(6) setdest 970.129 477.258 14.3368"
$ns_ at 118.6628 "$node_(14) setdest 309.784 781.179 15.0155"
$ns_ at 119.8464 "$node_(13) setdest 361.734 91.624 19.7818"
$ns_ at 119.9666 "$node_(2) setdest 131.585 325.684 28.8035"
$ns_ at 121.2978 "$node_(10) setdest 427.015 131.7 18.208"
$ns_ at 123.6395 "$node_(5) setdest 665.007 483.462 19.2387"
$ns_ at 123.9874 "$node_(7) setdest 586.669 548.777 28.132"
$ns_ at 124.5716 "$node_(8) setdest 722.248 774.749 15.7901"
$ns_ at 126.0966 "$node_(9) setdest 790.848 306.925 18.9245"
$ns_ at 126.1984 "$node_(0) setdest 815.351 681.705 27.6865"
$ns_ at 127.0491 "$node_(1) setdest 253.273 529.757 20.8734"
$ns_ at 128.678 "$node_(3) setdest 568.457 120.017 13.2343"
$ns_ at 128.8231 "$node_(12) setdest 969.783 566.901 18.3559"
$ns_ at 133.6736 "$node_(15) setdest 618.53 319.058 18.4986"
$ns_ at 133.9096 "$node_(7) setdest 249.965 823.359 20.8923"
$ns_ at 143.556 "$node_(4) setdest 176.97 738.088 25.6083"
$ns_ at 143.7399 "$node_(10) setdest 427.862 673.863 11.259"
$ns_ at 144.9706 "$node_(6) setdest 196.845 93.827 17.9019"
$ns_ at 146.2348 "$node_(1) setdest 748.235 818.033 23.3715"
$ns_ at 148.3445 "$node_(5) setdest 990.301 640.285 10.5863"
