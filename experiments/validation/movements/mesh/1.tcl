$node_(0) set X_ 566.562
$node_(0) set Y_ 745.782
$node_(1) set X_ 123.109
$node_(1) set Y_ 286.911
$node_(2) set X_ 325.684
$node_(2) set Y_ 940.174
$node_(3) set X_ 120.017
$node_(3) set Y_ 161.716
$node_(4) set X_ 738.088
$node_(4) set Y_ 780.416
$node_(5) set X_ 473.899
$node_(5) set Y_ 562.588
$ns_ at 2.0 "$node_(0) setdest 971.003 444.359 18.8853"
$ns_ at 2.0 "$node_(1) setdest 47.901 515.52 24.2754"
$ns_ at 2.0 "$node_(2) setdest 393.662 87.731 22.141"
$ns_ at 2.0 "$node_(3) setdest 823.336 972.688 23.8217"
$ns_ at 2.0 "$node_(4) setdest 388.108 96.802 29.0578"
$ns_ at 2.0 "$node_(5) setdest 693.734 740.202 29.4026"
$ns_ at 13.6121 "$node_(5) setdest 477.258 216.842 13.9369"
$ns_ at 13.9138 "$node_(1) setdest 43.748 997.748 21.957"
$ns_ at 30.4299 "$node_(4) setdest 596.939 93.905 27.1192"
$ns_ at 30.7091 "$node_(0) setdest 762.894 877.349 20.4613"
$ns_ at 37.877 "$node_(1) setdest 586.595 397.169 18.7797"
$ns_ at 40.1311 "$node_(4) setdest 843.804 0.114 16.1737"
$ns_ at 42.6229 "$node_(2) setdest 155.478 958.332 27.5123"
$ns_ at 49.0626 "$node_(3) setdest 565.624 470.589 22.4797"
$ns_ at 56.1878 "$node_(0) setdest 285.509 793.997 18.0828"
$ns_ at 56.2498 "$node_(5) setdest 93.827 395.094 14.7779"
$ns_ at 58.4589 "$node_(4) setdest 736.13 588.857 23.3001"
$ns_ at 76.1686 "$node_(3) setdest 860.155 805.75 12.181"
$ns_ at 77.4298 "$node_(2) setdest 526.456 68.37 25.047"
$ns_ at 82.985 "$node_(1) setdest 253.273 529.757 20.8734"
$ns_ at 84.9872 "$node_(0) setdest 605.42 454.938 20.6016"
$ns_ at 86.1459 "$node_(4) setdest 483.462 461.936 29.806"
$ns_ at 86.8627 "$node_(5) setdest 322.504 242.094 20.4042"
$ns_ at 97.6324 "$node_(4) setdest 640.285 29.317 26.9561"
$ns_ at 102.1707 "$node_(1) setdest 748.235 818.033 23.3715"
$ns_ at 102.3472 "$node_(5) setdest 586.753 78.159 19.1981"
$ns_ at 109.6145 "$node_(0) setdest 435.965 167.035 22.9067"
$ns_ at 114.7982 "$node_(3) setdest 649.585 220.773 18.4547"
$ns_ at 116.7033 "$node_(4) setdest 909.76 386.156 12.9844"
$ns_ at 117.925 "$node_(2) setdest 534.066 720.407 15.5987"
$ns_ at 120.5452 "$node_(5) setdest 46.778 661.931 10.7234"
$ns_ at 126.1984 "$node_(0) setdest 815.351 681.705 27.6865"
$ns_ at 128.6788 "$node_(1) setdest 861.828 708.179 14.7272"
$ns_ at 141.4088 "$node_(1) setdest 656.236 868.909 26.7866"
$ns_ at 150.4873 "$node_(3) setdest 887.167 685.07 28.8168"
$ns_ at 151.2924 "$node_(0) setdest 65.96 81.415 19.9176"
$ns_ at 153.1414 "$node_(4) setdest 636.307 597.459 13.6992"
$ns_ at 153.1512 "$node_(1) setdest 324.433 159.179 27.8788"
$ns_ at 161.7285 "$node_(2) setdest 37.434 22.017 21.3691"
$ns_ at 170.5862 "$node_(3) setdest 750.572 126.75 13.5394"
$ns_ at 180.3677 "$node_(4) setdest 100.155 988.481 18.1088"
$ns_ at 183.2535 "$node_(1) setdest 912.69 301.856 12.6317"
$ns_ at 196.7019 "$node_(5) setdest 84.43 389.318 23.0466"
