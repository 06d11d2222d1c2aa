$node_(0) set X_ 386.768
$node_(0) set Y_ 752.307
$node_(1) set X_ 114.865
$node_(1) set Y_ 987.465
$node_(2) set X_ 529.034
$node_(2) set Y_ 628.906
$node_(3) set X_ 229.115
$node_(3) set Y_ 267.11
$node_(4) set X_ 41.441
$node_(4) set Y_ 933.672
$node_(5) set X_ 338.277
$node_(5) set Y_ 703.398
$ns_ at 2.0 "$node_(0) setdest 232.709 99.339 13.7592"
$ns_ at 2.0 "$node_(1) setdest 180.081 875.652 13.1207"
$ns_ at 2.0 "$node_(2) setdest 465.94 283.707 23.0302"
$ns_ at 2.0 "$node_(3) setdest 528.529 991.635 21.3752"
$ns_ at 2.0 "$node_(4) setdest 113.014 567.548 28.7505"
$ns_ at 2.0 "$node_(5) setdest 902.63 16.739 16.1919"
$ns_ at 13.8655 "$node_(1) setdest 712.623 936.368 12.441"
$ns_ at 16.9756 "$node_(4) setdest 407.28 978.128 22.2908"
$ns_ at 19.2373 "$node_(2) setdest 762.014 215.646 29.5845"
$ns_ at 31.506 "$node_(2) setdest 143.67 413.693 19.4333"
$ns_ at 40.6759 "$node_(3) setdest 677.946 510.073 11.9664"
$ns_ at 41.637 "$node_(4) setdest 400.053 839.175 17.7828"
$ns_ at 51.4615 "$node_(4) setdest 987.076 355.364 14.9428"
$ns_ at 52.7598 "$node_(0) setdest 380.609 985.564 20.222"
$ns_ at 58.8927 "$node_(5) setdest 714.773 383.918 29.4949"
$ns_ at 58.9482 "$node_(1) setdest 458.564 844.265 15.4387"
$ns_ at 66.917 "$node_(2) setdest 61.794 381.661 25.3904"
$ns_ at 72.3797 "$node_(2) setdest 912.973 421.886 18.0442"
$ns_ at 74.8763 "$node_(5) setdest 999.63 498.125 19.7517"
$ns_ at 78.4522 "$node_(1) setdest 194.469 977.439 17.823"
$ns_ at 84.8114 "$node_(3) setdest 540.557 1.683 12.6767"
$ns_ at 92.4141 "$node_(5) setdest 437.242 549.035 17.6677"
$ns_ at 97.0472 "$node_(1) setdest 970.752 708.726 17.4547"
$ns_ at 99.1907 "$node_(0) setdest 426.451 603.441 19.0095"
$ns_ at 104.3692 "$node_(4) setdest 178.62 907.272 28.2839"
$ns_ at 121.4365 "$node_(0) setdest 136.702 874.251 19.0541"
$ns_ at 121.6042 "$node_(2) setdest 680.644 875.616 15.5465"
$ns_ at 126.3757 "$node_(5) setdest 961.834 11.944 18.5896"
$ns_ at 128.3543 "$node_(3) setdest 203.149 588.598 18.6703"
$ns_ at 140.9782 "$node_(4) setdest 439.817 461.34 27.0698"
$ns_ at 144.251 "$node_(0) setdest 954.679 938.975 26.622"
$ns_ at 146.1105 "$node_(1) setdest 447.888 122.791 10.0336"
$ns_ at 156.3931 "$node_(2) setdest 869.59 315.582 16.777"
$ns_ at 162.0695 "$node_(4) setdest 373.794 783.408 19.7489"
$ns_ at 166.6145 "$node_(3) setdest 945.566 167.457 14.751"
$ns_ at 168.7625 "$node_(5) setdest 477.03 615.918 20.6918"
$ns_ at 177.0726 "$node_(0) setdest 461.051 157.315 19.1046"
$ns_ at 180.7168 "$node_(4) setdest 845.606 351.34 10.1217"
$ns_ at 193.6228 "$node_(2) setdest 0.597 800.507 20.6713"
