$node_(0) set X_ 431.456
$node_(0) set Y_ 892.407
$node_(1) set X_ 132.694
$node_(1) set Y_ 536.995
$node_(2) set X_ 967.541
$node_(2) set Y_ 442.072
$node_(3) set X_ 371.643
$node_(3) set Y_ 242.594
$node_(4) set X_ 616.642
$node_(4) set Y_ 423.733
$node_(5) set X_ 50.294
$node_(5) set Y_ 316.137
$ns_ at 2.0 "$node_(0) setdest 859.117 491.774 17.8916"
$ns_ at 2.0 "$node_(1) setdest 907.145 564.187 27.3955"
$ns_ at 2.0 "$node_(2) setdest 918.263 367.129 25.3243"
$ns_ at 2.0 "$node_(3) setdest 6.246 33.403 17.0786"
$ns_ at 2.0 "$node_(4) setdest 749.48 626.553 10.2762"
$ns_ at 2.0 "$node_(5) setdest 193.733 181.961 19.8656"
$ns_ at 7.5418 "$node_(2) setdest 463.583 525.284 15.28"
$ns_ at 13.8871 "$node_(5) setdest 27.584 775.933 22.6215"
$ns_ at 27.5933 "$node_(4) setdest 945.331 132.237 20.6684"
$ns_ at 28.6532 "$node_(3) setdest 840.506 458.149 29.0193"
$ns_ at 32.2867 "$node_(1) setdest 249.73 663.112 28.7202"
$ns_ at 36.753 "$node_(0) setdest 586.718 920.68 18.9748"
$ns_ at 41.0471 "$node_(2) setdest 721.362 846.236 27.759"
$ns_ at 43.152 "$node_(5) setdest 354.248 942.439 28.5588"
$ns_ at 55.3186 "$node_(4) setdest 902.186 162.052 10.9776"
$ns_ at 57.4347 "$node_(1) setdest 53.306 331.202 13.6651"
$ns_ at 57.8767 "$node_(2) setdest 678.717 139.119 13.4224"
$ns_ at 57.9904 "$node_(5) setdest 682.496 632.012 14.6634"
$ns_ at 62.096 "$node_(4) setdest 777.333 189.267 27.3442"
$ns_ at 62.9131 "$node_(3) setdest 371.536 543.8 23.8571"
$ns_ at 65.5304 "$node_(0) setdest 181.786 537.671 25.881"
$ns_ at 68.7692 "$node_(4) setdest 953.438 202.456 16.4749"
$ns_ at 81.4885 "$node_(4) setdest 720.319 374.314 11.2236"
$ns_ at 84.8957 "$node_(3) setdest 276.507 765.089 10.93"
$ns_ at 87.6582 "$node_(1) setdest 886.961 866.998 22.2702"
$ns_ at 89.0665 "$node_(0) setdest 696.808 543.222 23.6044"
$ns_ at 90.801 "$node_(5) setdest 115.995 493.523 14.8499"
$ns_ at 108.9296 "$node_(3) setdest 599.895 700.544 10.5697"
$ns_ at 109.293 "$node_(4) setdest 689.105 360.077 25.6977"
$ns_ at 112.628 "$node_(4) setdest 59.141 736.945 26.6389"
$ns_ at 112.6543 "$node_(2) setdest 540.619 440.51 23.2354"
$ns_ at 112.8866 "$node_(0) setdest 851.225 794.482 22.1571"
$ns_ at 128.1969 "$node_(0) setdest 168.991 761.494 12.6881"
$ns_ at 128.9223 "$node_(2) setdest 51.566 332.319 13.8261"
$ns_ at 132.0728 "$node_(5) setdest 133.156 233.014 23.2644"
$ns_ at 134.1566 "$node_(1) setdest 985.398 839.436 13.9842"
$ns_ at 142.1289 "$node_(3) setdest 548.227 310.027 19.4684"
$ns_ at 142.185 "$node_(4) setdest 635.832 909.282 12.641"
$ns_ at 143.4665 "$node_(1) setdest 745.9 978.271 10.0521"
$ns_ at 145.2949 "$node_(5) setdest 168.679 51.164 17.7704"
$ns_ at 157.7216 "$node_(5) setdest 38.621 666.068 26.7402"
$ns_ at 164.3627 "$node_(3) setdest 99.167 959.262 19.2938"
$ns_ at 167.1492 "$node_(2) setdest 186.539 370.548 24.6782"
$ns_ at 173.006 "$node_(1) setdest 260.651 161.73 20.0904"
$ns_ at 174.8337 "$node_(2) setdest 385.47 670.141 13.3738"
$ns_ at 183.2258 "$node_(5) setdest 269.143 882.411 25.0062"
$ns_ at 184.0293 "$node_(0) setdest 366.042 10.907 22.2742"
$ns_ at 191.7992 "$node_(4) setdest 523.73 29.175 15.948"
$ns_ at 197.8683 "$node_(5) setdest 582.918 305.893 26.8326"
