$node_(0) set X_ 591.19
$node_(0) set Y_ 749.15
$node_(1) set X_ 330.689
$node_(1) set Y_ 916.195
$node_(2) set X_ 793.077
$node_(2) set Y_ 168.813
$node_(3) set X_ 897.216
$node_(3) set Y_ 366.544
$node_(4) set X_ 74.511
$node_(4) set Y_ 304.945
$node_(5) set X_ 844.473
$node_(5) set Y_ 307.86
$node_(6) set X_ 535.7
$node_(6) set Y_ 880.857
$node_(7) set X_ 646.671
$node_(7) set Y_ 671.4
$node_(8) set X_ 147.263
$node_(8) set Y_ 880.473
$node_(9) set X_ 902.831
$node_(9) set Y_ 286.749
$node_(10) set X_ 191.539
$node_(10) set Y_ 134.6
$node_(11) set X_ 574.307
$node_(11) set Y_ 651.726
$node_(12) set X_ 264.425
$node_(12) set Y_ 588.702
$node_(13) set X_ 274.919
$node_(13) set Y_ 803.792
$node_(14) set X_ 948.811
$node_(14) set Y_ 465.688
$node_(15) set X_ 243.992
$node_(15) set Y_ 58.887
$ns_ at 2.0 "$node_(0) setdest 595.638 765.419 16.2318"
$ns_ at 2.0 "$node_(1) setdest 740.245 525.236 22.3954"
$ns_ at 2.0 "$node_(2) setdest 8.219 678.112 26.7762"
$ns_ at 2.0 "$node_(3) setdest 909.234 324.379 10.1139"
$ns_ at 2.0 "$node_(4) setdest 478.86 964.644 28.6001"
$ns_ at 2.0 "$node_(5) setdest 398.3 671.269 27.607"
$ns_ at 2.0 "$node_(6) setdest 386.769 267.906 19.5941"
$ns_ at 2.0 "$node_(7) setdest 945.376 374.381 14.2101"
$ns_ at 2.0 "$node_(8) setdest 326.435 989.731 26.2046"
$ns_ at 2.0 "$node_(9) setdest 110.221 130.131 14.8608"
$ns_ at 2.0 "$node_(10) setdest 764.483 343.324 25.3958"
$ns_ at 2.0 "$node_(11) setdest 43.812 267.753 21.3444"
$ns_ at 2.0 "$node_(12) setdest 351.496 106.253 15.2718"
$ns_ at 2.0 "$node_(13) setdest 89.801 373.62 27.7905"
$ns_ at 2.0 "$node_(14) setdest 301.4 974.124 24.0723"
$ns_ at 2.0 "$node_(15) setdest 982.552 479.733 11.4414"
$ns_ at 5.0391 "$node_(0) setdest 346.622 726.354 24.7817"
$ns_ at 8.3351 "$node_(3) setdest 615.307 597.315 13.5425"
$ns_ at 12.0084 "$node_(8) setdest 27.812 70.908 15.6076"
$ns_ at 17.2104 "$node_(0) setdest 250.312 727.616 16.7896"
$ns_ at 20.8515 "$node_(13) setdest 112.375 680.887 12.1329"
$ns_ at 24.8442 "$node_(5) setdest 0.179 767.552 24.3171"
$ns_ at 24.9471 "$node_(0) setdest 437.826 555.791 17.4761"
$ns_ at 28.011 "$node_(10) setdest 878.865 77.872 13.4319"
$ns_ at 29.2821 "$node_(1) setdest 11.66 300.885 27.3428"
$ns_ at 31.0544 "$node_(4) setdest 759.699 933.721 16.4175"
$ns_ at 33.6439 "$node_(7) setdest 13.689 712.551 23.5942"
$ns_ at 34.6813 "$node_(11) setdest 633.557 478.862 25.7772"
$ns_ at 36.1012 "$node_(12) setdest 887.14 326.745 25.252"
$ns_ at 36.1926 "$node_(6) setdest 458.45 440.814 18.2863"
$ns_ at 38.1967 "$node_(14) setdest 76.704 381.355 25.7664"
$ns_ at 38.9423 "$node_(2) setdest 436.191 979.631 27.0197"
$ns_ at 39.9535 "$node_(3) setdest 581.498 816.006 14.9316"
$ns_ at 41.5003 "$node_(0) setdest 932.001 203.391 14.0027"
$ns_ at 43.6882 "$node_(5) setdest 120.816 389.664 25.9081"
$ns_ at 48.2449 "$node_(13) setdest 263.823 380.701 26.3537"
$ns_ at 48.4285 "$node_(6) setdest 308.941 924.45 23.1234"
$ns_ at 50.2638 "$node_(4) setdest 861.006 384.603 14.6034"
$ns_ at 51.5304 "$node_(10) setdest 414.675 139.527 23.1918"
$ns_ at 56.7736 "$node_(3) setdest 121.246 525.336 28.1818"
$ns_ at 58.3669 "$node_(9) setdest 260.788 887.798 13.3125"
$ns_ at 59.1631 "$node_(1) setdest 603.434 266.781 16.8581"
$ns_ at 60.3178 "$node_(2) setdest 175.26 549.63 19.4233"
$ns_ at 60.9815 "$node_(11) setdest 734.781 319.058 22.7702"
$ns_ at 60.9991 "$node_(5) setdest 592.367 941.288 25.3133"
$ns_ at 61.04 "$node_(12) setdest 889.679 929.369 25.2072"
$ns_ at 63.0031 "$node_(13) setdest 70.258 640.529 19.7175"
$ns_ at 64.7996 "$node_(14) setdest 774.377 486.172 15.9693"
$ns_ at 71.2891 "$node_(11) setdest 386.747 561.27 18.7969"
$ns_ at 72.3205 "$node_(6) setdest 349.891 226.376 11.7388"
$ns_ at 73.7215 "$node_(10) setdest 224.116 878.465 23.0651"
$ns_ at 75.9098 "$node_(8) setdest 458.082 402.607 24.0358"
$ns_ at 77.6525 "$node_(7) setdest 240.793 211.831 27.8001"
$ns_ at 78.0894 "$node_(3) setdest 694.259 215.982 18.5485"
$ns_ at 78.2958 "$node_(15) setdest 135.162 63.352 29.0706"
$ns_ at 81.4354 "$node_(13) setdest 560.132 705.634 28.3672"
$ns_ at 86.8459 "$node_(0) setdest 364.232 377.826 14.2038"
$ns_ at 86.947 "$node_(12) setdest 626.062 81.574 15.4365"
$ns_ at 88.2133 "$node_(2) setdest 751.613 317.769 21.8927"
$ns_ at 90.5005 "$node_(4) setdest 452.697 333.65 21.3426"
$ns_ at 91.6681 "$node_(5) setdest 99.007 996.489 16.6507"
$ns_ at 95.8472 "$node_(11) setdest 635.765 43.084 27.4621"
$ns_ at 96.3246 "$node_(1) setdest 883.562 348.841 15.5762"
$ns_ at 99.43 "$node_(7) setdest 55.764 720.31 13.6268"
$ns_ at 100.5129 "$node_(8) setdest 881.679 730.286 21.3966"
$ns_ at 100.8562 "$node_(13) setdest 285.465 831.915 18.7119"
$ns_ at 108.8067 "$node_(10) setdest 105.717 679.276 21.581"
$ns_ at 110.9783 "$node_(14) setdest 533.405 710.378 24.0237"
$ns_ at 111.78 "$node_(4) setdest 970.221 126.587 20.9195"
$ns_ at 112.7741 "$node_(15) setdest 715.815 817.3 25.9794"
$ns_ at 115.1967 "$node_(3) setdest 375.155 548.905 25.1837"
$ns_ at 117.0647 "$node_(1) setdest 10.71 902.094 14.462"
$ns_ at 118.3938 "$node_(9) setdest 381.93 718.56 11.1869"
$ns_ at 118.59 "$node_(2) setdest 599.707 231.362 21.9197"
$ns_ at 118.782 "$node_(11) setdest 62.207 982.537 21.7779"
$ns_ at 119.0121 "$node_(13) setdest 275.899 388.978 19.1504"
$ns_ at 121.544 "$node_(10) setdest 625.548 640.918 16.1698"
$ns_ at 123.483 "$node_(5) setdest 623.39 120.782 18.2668"
$ns_ at 126.6791 "$node_(14) setdest 499.93 641.733 16.5157"
$ns_ at 127.5423 "$node_(8) setdest 407.401 834.803 28.3413"
$ns_ at 128.5628 "$node_(2) setdest 356.073 402.311 13.3799"
$ns_ at 130.6629 "$node_(0) setdest 48.2 527.412 17.6201"
$ns_ at 133.3033 "$node_(14) setdest 22.091 69.488 15.812"
$ns_ at 133.89 "$node_(6) setdest 524.989 546.434 26.4267"
$ns_ at 135.5084 "$node_(3) setdest 812.806 369.92 13.4489"
$ns_ at 138.9983 "$node_(9) setdest 246.973 63.539 25.0417"
$ns_ at 140.4255 "$node_(4) setdest 694.977 929.459 17.3188"
$ns_ at 141.1383 "$node_(7) setdest 23.387 970.598 26.3827"
$ns_ at 144.1468 "$node_(13) setdest 731.008 254.682 12.5195"
$ns_ at 146.4623 "$node_(12) setdest 344.622 480.724 27.6591"
$ns_ at 146.6783 "$node_(8) setdest 536.283 581.178 16.8037"
$ns_ at 149.6951 "$node_(6) setdest 296.666 770.406 29.1313"
