$node_(0) set X_ 591.19
$node_(0) set Y_ 749.15
$node_(1) set X_ 300.885
$node_(1) set Y_ 867.139
$node_(2) set X_ 678.112
$node_(2) set Y_ 838.81
$node_(3) set X_ 215.982
$node_(3) set Y_ 427.424
$node_(4) set X_ 126.587
$node_(4) set Y_ 545.976
$node_(5) set X_ 996.489
$node_(5) set Y_ 332.534
$ns_ at 2.0 "$node_(0) setdest 595.638 765.419 16.2318"
$ns_ at 2.0 "$node_(1) setdest 603.434 266.781 16.8581"
$ns_ at 2.0 "$node_(2) setdest 436.191 979.631 27.0197"
$ns_ at 2.0 "$node_(3) setdest 375.155 548.905 25.1837"
$ns_ at 2.0 "$node_(4) setdest 694.977 929.459 17.3188"
$ns_ at 2.0 "$node_(5) setdest 623.39 120.782 18.2668"
$ns_ at 5.0391 "$node_(0) setdest 346.622 726.354 24.7817"
$ns_ at 11.9509 "$node_(3) setdest 812.806 369.92 13.4489"
$ns_ at 14.3599 "$node_(2) setdest 175.26 549.63 19.4233"
$ns_ at 17.2104 "$node_(0) setdest 250.312 727.616 16.7896"
$ns_ at 24.9471 "$node_(0) setdest 437.826 555.791 17.4761"
$ns_ at 27.4853 "$node_(5) setdest 535.7 880.857 17.7354"
$ns_ at 41.5003 "$node_(0) setdest 932.001 203.391 14.0027"
$ns_ at 42.2555 "$node_(2) setdest 751.613 317.769 21.8927"
$ns_ at 43.5904 "$node_(4) setdest 844.473 307.86 17.966"
$ns_ at 43.879 "$node_(1) setdest 883.562 348.841 15.5762"
$ns_ at 49.1089 "$node_(3) setdest 74.511 304.945 19.5772"
$ns_ at 64.6191 "$node_(1) setdest 10.71 902.094 14.462"
$ns_ at 72.6259 "$node_(5) setdest 267.906 479.707 19.169"
$ns_ at 72.6322 "$node_(2) setdest 599.707 231.362 21.9197"
$ns_ at 81.1755 "$node_(4) setdest 671.269 880.348 10.0036"
$ns_ at 82.605 "$node_(2) setdest 356.073 402.311 13.3799"
$ns_ at 86.8459 "$node_(0) setdest 364.232 377.826 14.2038"
$ns_ at 88.9667 "$node_(3) setdest 964.644 930.003 25.194"
$ns_ at 99.7875 "$node_(5) setdest 440.814 414.316 16.1788"
$ns_ at 106.8492 "$node_(2) setdest 897.216 366.544 28.1847"
$ns_ at 113.2136 "$node_(5) setdest 924.45 656.171 16.9978"
$ns_ at 128.091 "$node_(2) setdest 324.379 5.695 22.3061"
$ns_ at 130.6629 "$node_(0) setdest 48.2 527.412 17.6201"
$ns_ at 134.1386 "$node_(3) setdest 933.721 320.874 27.2201"
$ns_ at 138.0768 "$node_(1) setdest 793.077 168.813 10.1644"
$ns_ at 142.9656 "$node_(4) setdest 767.552 715.854 12.4163"
$ns_ at 147.0258 "$node_(5) setdest 226.376 86.938 20.4998"
$ns_ at 152.5065 "$node_(0) setdest 330.689 916.195 24.8049"
$ns_ at 158.5453 "$node_(3) setdest 384.603 230.17 19.0539"
$ns_ at 160.3164 "$node_(4) setdest 389.664 795.403 21.8473"
$ns_ at 160.4423 "$node_(2) setdest 597.315 177.124 21.63"
$ns_ at 173.8807 "$node_(0) setdest 525.236 619.771 10.2332"
$ns_ at 177.3432 "$node_(2) setdest 816.006 246.582 12.4249"
$ns_ at 179.9923 "$node_(4) setdest 941.288 765.664 11.9801"
$ns_ at 189.755 "$node_(3) setdest 333.65 567.131 29.4044"
$ns_ at 192.9648 "$node_(5) setdest 546.434 821.336 15.9333"
$ns_ at 197.8107 "$node_(2) setdest 525.336 909.089 23.8852"
