$node_(0) set X_ 113.45
$node_(0) set Y_ 700.294
$node_(1) set X_ 191.104
$node_(1) set Y_ 622.435
$node_(2) set X_ 894.537
$node_(2) set Y_ 17.341
$node_(3) set X_ 77.774
$node_(3) set Y_ 516.993
$node_(4) set X_ 579.616
$node_(4) set Y_ 75.807
$node_(5) set X_ 286.85
$node_(5) set Y_ 487.88
$ns_ at 2.0 "$node_(0) setdest 612.975 72.867 14.3288"
$ns_ at 2.0 "$node_(1) setdest 890.139 215.789 12.4187"
$ns_ at 2.0 "$node_(2) setdest 544.917 155.126 23.6863"
$ns_ at 2.0 "$node_(3) setdest 217.37 397.588 25.6055"
$ns_ at 2.0 "$node_(4) setdest 334.096 708.155 29.6933"
$ns_ at 2.0 "$node_(5) setdest 650.231 522.325 27.3954"
$ns_ at 11.1741 "$node_(3) setdest 801.611 324.697 16.4409"
$ns_ at 17.3238 "$node_(5) setdest 541.55 925.548 27.089"
$ns_ at 19.8653 "$node_(2) setdest 696.842 534.251 20.8097"
$ns_ at 26.8449 "$node_(4) setdest 241.083 447.802 18.6366"
$ns_ at 34.7401 "$node_(5) setdest 580.004 33.521 28.4015"
$ns_ at 41.4923 "$node_(2) setdest 415.526 427.542 12.9408"
$ns_ at 43.6796 "$node_(4) setdest 668.375 165.803 17.4687"
$ns_ at 48.9855 "$node_(3) setdest 220.124 717.747 27.7389"
$ns_ at 59.9706 "$node_(0) setdest 636.222 135.146 27.7744"
$ns_ at 64.364 "$node_(0) setdest 491.062 888.529 23.9687"
$ns_ at 66.7424 "$node_(2) setdest 668.529 597.419 17.4017"
$ns_ at 68.177 "$node_(5) setdest 759.05 3.06 17.3638"
$ns_ at 69.1203 "$node_(1) setdest 641.218 871.931 23.9032"
$ns_ at 74.9868 "$node_(4) setdest 416.953 223.44 15.2501"
$ns_ at 76.288 "$node_(3) setdest 6.834 913.511 17.9197"
$ns_ at 80.6366 "$node_(5) setdest 798.406 341.504 17.7899"
$ns_ at 86.2547 "$node_(2) setdest 340.353 195.704 27.6625"
$ns_ at 93.901 "$node_(4) setdest 271.021 846.137 10.5838"
$ns_ at 94.444 "$node_(3) setdest 195.017 963.926 29.3517"
$ns_ at 98.3741 "$node_(0) setdest 711.886 480.165 16.72"
$ns_ at 100.4792 "$node_(1) setdest 724.604 189.012 27.9761"
$ns_ at 101.7893 "$node_(5) setdest 868.388 355.743 24.3425"
$ns_ at 103.0814 "$node_(3) setdest 385.903 733.954 10.5976"
$ns_ at 106.7231 "$node_(5) setdest 979.137 64.579 13.4429"
$ns_ at 107.0066 "$node_(2) setdest 415.303 509.006 17.5128"
$ns_ at 127.0713 "$node_(1) setdest 428.319 212.004 19.4686"
$ns_ at 127.4013 "$node_(2) setdest 516.419 877.973 24.4669"
$ns_ at 128.14 "$node_(0) setdest 717.384 798.89 16.1211"
$ns_ at 131.8963 "$node_(5) setdest 945.6 595.318 27.0708"
$ns_ at 133.2833 "$node_(3) setdest 939.683 867.904 17.6718"
$ns_ at 144.3357 "$node_(1) setdest 669.609 378.365 17.3938"
$ns_ at 145.0376 "$node_(2) setdest 441.579 303.061 11.1903"
$ns_ at 149.9136 "$node_(0) setdest 103.905 173.025 21.7599"
$ns_ at 153.541 "$node_(5) setdest 315.8 73.79 25.0304"
$ns_ at 156.33 "$node_(4) setdest 103.819 636.077 29.3942"
$ns_ at 163.1854 "$node_(1) setdest 157.219 508.001 24.135"
$ns_ at 167.4638 "$node_(4) setdest 967.335 280.134 17.2148"
$ns_ at 167.5239 "$node_(3) setdest 888.952 418.945 23.1509"
$ns_ at 187.0845 "$node_(1) setdest 856.313 317.354 21.4613"
$ns_ at 188.2094 "$node_(5) setdest 299.682 746.147 13.4938"
$ns_ at 189.04 "$node_(3) setdest 75.661 854.566 16.2677"
$ns_ at 192.1892 "$node_(0) setdest 819.425 935.7 23.3929"
$ns_ at 198.847 "$node_(2) setdest 560.143 457.207 16.6432"
