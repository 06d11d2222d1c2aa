//! `[wifi]`, `[field]`, `[ap]` and `[[station]]`.

use super::{Case, each_has_its_message, set};

const CASES: &[Case] = &[
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nslto = \"9us\"",
        "t.toml:7:1: there is no key `wifi.slto`\
            \n  help: did you mean `slot`? Write one of: standard, preamble, band, durations, slot, sifs, difs, eifs, \
            ack_timeout, signal_extension, llc, cwmin, cwmax, basic, protection, protection_rate, retry_short, \
            retry_long, rts_threshold, txop_protection, preamble_detection, busy_slot, idle_access, \
            after_collision, rate, width, streams, mcs, guard, fec, packet_padding, extended_range, ampdu, amsdu, \
            mac_queue, queue, loss, access, rate_control, snr, fading, error_model",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11z\"",
        "t.toml:6:12: `wifi.standard` cannot be \"802.11z\"\
            \n  help: did you mean `802.11`? Write one of: 802.11, 802.11b, 802.11a, 802.11g, 802.11n, \
            802.11ac, 802.11ax, 802.11be",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nrate = \"11mbps\"",
        "t.toml:7:8: `wifi.rate` has an unknown unit: `mbps`\
            \n  help: write a rate like \"54Mbps\" (units: bps, kbps, Mbps, Gbps); did you mean `Mbps`?",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nrate = \"54Mb\"",
        "t.toml:7:8: `wifi.rate` has an unknown unit: `Mb`\
            \n  help: write a rate like \"54Mbps\" (units: bps, kbps, Mbps, Gbps); did you mean `Mbps`?",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nrate = \"10Mbps\"",
        "t.toml:7:8: `wifi.rate` is not a rate of this standard\n  help: rates: 1Mbps, 2Mbps, 5.5Mbps, 6Mbps, 9Mbps, \
            11Mbps, 12Mbps, 18Mbps, 24Mbps, 36Mbps, 48Mbps, 54Mbps",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nrate = [\"54Mbps\", \"6Mbps\"]",
        "t.toml:7:8: `wifi.rate` takes one value, not a list\n  help: a list gives one value to each member of a \
            [[flow]] or [[station]]; to try several, put the list under [sweep]",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\ncwmin = 31\ncwmax = 15",
        "t.toml:7:9: `wifi.cwmin` makes cwmin 31 larger than cwmax 15\n  help: write a smaller cwmin or a larger cwmax",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11b\"\nprotection = \"rts-cts\"",
        "t.toml:7:14: `wifi.protection` is for 802.11g and later standards, beside older stations\n  \
            help: remove it, or write standard = \"802.11g\"",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nprotection = \"rts-cts\"\nrts_threshold = \"500B\"",
        "t.toml:8:17: `wifi.rts_threshold` has no meaning with protection = \"rts-cts\", which sends an RTS before \
            every frame\n  help: remove one of the two",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nslot = { us = 9 }",
        "t.toml:7:8: `wifi.slot` must be a duration, not a table\n  help: write a duration like \"15ms\" (units: s, \
            ms, us, ns)",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = \"dfc\"",
        "t.toml:7:10: `wifi.access` names an unknown access rule: \"dfc\"\
            \n  help: did you mean `dcf`? Write one of: {access}",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = { kind = \"edca\", vo = { cwmim = 3 } }",
        "t.toml:7:34: there is no key `wifi.access.vo.cwmim`\
            \n  help: did you mean `cwmin`? Write one of: aifsn, cwmin, cwmax, txop",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = { kind = \"edca\", bk = { aifsn = 16 } }",
        "t.toml:7:42: `wifi.access.bk.aifsn` is out of range: 16\n  help: write a value from 1 to 15",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = { kind = \"edca\", vi = { cwmin = 31 } }",
        "t.toml:7:10: `wifi.access` cannot use edca: vi: cwmin = 31 is larger than cwmax = 15\
            \n  help: write a smaller cwmin or a larger cwmax",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\naccess = { kind = \"dcf\", cwmin = 2000, cwmax = 10 }",
        "t.toml:7:10: `wifi.access` cannot use dcf: cwmin = 2000 is larger than cwmax = 10\
            \n  help: write a smaller cwmin",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nloss = { kind = \"bernoulli\" }",
        "t.toml:7:8: `wifi.loss` needs `p` for bernoulli: probability that a packet is lost\n  help: write { kind = \
            \"bernoulli\", p = \"1%\" }",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nloss = { kind = \"bernoulli\", p = \"120%\" }",
        "t.toml:7:34: `wifi.loss.p` is out of range: 1.2\n  help: write a value from 0 to 1",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nloss = { kind = \"bernoulli\", q = \"1%\" }",
        "t.toml:7:30: there is no key `wifi.loss.q`\n  help: did you mean `p`? Write one of: kind, p, on",
    ),
    (
        "standard = \"802.11g\"",
        "standard = \"802.11g\"\nloss = { kind = \"script\", drop = [{ flow = \"upp\", segment = 3 }] }",
        "t.toml:7:8: `wifi.loss` cannot use script: drop names flow \"upp\", which is not in the file\
            \n  help: write the name of a [[flow]]",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"fifo\", limit = \"100\" }\n[[station]]",
        "t.toml:9:34: `ap.queue.limit` has no unit: 100\n  help: write an amount of packets or bytes like \
            \"100p\" or \"150kB\" (units: p, B, kB, MB)",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"fifo\", limit = 100 }\n[[station]]",
        "t.toml:9:34: `ap.queue.limit` has no unit: 100\n  help: write an amount of packets or bytes like \
            \"100p\" or \"150kB\" (units: p, B, kB, MB)",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"fifo\", limit = \"0p\" }\n[[station]]",
        "t.toml:9:34: `ap.queue.limit` is out of range: 0p\n  help: write a value from 1p to 1000000000p",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"fifo\", limt = \"100p\" }\n[[station]]",
        "t.toml:9:26: there is no key `ap.queue.limt`\n  help: did you mean `limit`? Write one of: kind, limit, \
            ack_filter",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { limit = \"100p\" }\n[[station]]",
        "t.toml:9:9: `ap.queue` needs `kind`\n  help: write kind = \"fifo\"",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = \"fcwa\"\n[[station]]",
        "t.toml:9:9: `ap.queue` names an unknown queue discipline: \"fcwa\"\
            \n  help: `fcwa` is a control block: write control = { kind = \"fcwa\" }, or a list of them, in [ap]",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = \"hfsc\"\n[[station]]",
        "t.toml:9:9: `ap.queue` names an unknown queue discipline: \"hfsc\"\
            \n  help: write one of: {qdiscs}",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"red\", min_th = \"20p\" }\n[[station]]",
        "t.toml:9:9: `ap.queue` cannot use red: min_th is above max_th\
            \n  help: write a smaller min_th (max_th at least twice as large is usual)",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = \"lifo\"\n[[station]]",
        "t.toml:9:9: `ap.queue` names an unknown queue discipline: \"lifo\"\
            \n  help: did you mean `fifo`? Write one of: {qdiscs}",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"wf2q\", weights = [[\"slow.1\", 2], [\"slow1\", 3]] }\n[[station]]",
        "t.toml:9:53: `ap.queue.weights.1.0` names an unknown station: \"slow1\"\
            \n  help: did you mean `slow.1`? Write one of: down.1.sta, slow.1, slow.2, slow.3",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"vfq\", weights = [[\"slow.1\", 0]] }\n[[station]]",
        "t.toml:9:35: `ap.queue.weights` is out of range: 0\n  help: write a value from 0.000001 to 1000000",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"airtime\", weights = [[\"slow.1\", 2], [\"slow.1\", 3]] }\n[[station]]",
        "t.toml:9:9: `ap.queue` cannot use airtime: weights: \"slow.1\" is listed twice\n  help: remove one",
    ),
    (
        "[[station]]",
        "[ap]\nqueue = { kind = \"elf\", class_limit = \"100B\" }\n[[station]]",
        "t.toml:9:9: `ap.queue` cannot use elf: class_limit: 100 bytes have no room for one packet of 1500 bytes\
            \n  help: write packets, like \"10p\", or more bytes",
    ),
    (
        "[[station]]",
        "[[station]]\nqueue = { kind = \"wf2q\", weights = [[\"slow.1\", 2]] }",
        "t.toml:9:9: `station.0.queue` cannot use wf2q: weights: station \"slow.1\" cannot be reached from this \
            queue\n  help: only [ap] queue can give weights to the stations of its cell",
    ),
    (
        "[[station]]",
        "[ap]\ncontrol = \"fwca\"\n[[station]]",
        "t.toml:9:11: `ap.control` names an unknown control block: \"fwca\"\
            \n  help: did you mean `fcwa`? Write one of: {controls}",
    ),
    (
        "[[station]]",
        "[[station]]\nname = \"slow\"\n[[station]]",
        "t.toml:11:8: `station.1.name` is used twice: \"slow\"\n  help: give each access point, station, node and link \
         its own name",
    ),
    (
        "[[station]]",
        "[station]",
        "t.toml:8:1: `station` must be a list, not a table\n  help: write [[station]], with two brackets",
    ),
    (
        "name = \"slow\"",
        "name = \"s l\"",
        "t.toml:9:8: `station.0.name` cannot be \"s l\"\n  help: a name has up to 64 letters, digits, - and _, and \
            begins with a letter",
    ),
    (
        "name = \"slow\"",
        "name = \"ap\"",
        "t.toml:9:8: `station.0.name` cannot be \"ap\", which is a word of the file\n  help: choose another name",
    ),
    (
        "count = 3",
        "count = 200000",
        "t.toml:10:9: `station.0.count` is too large: 200000\n  help: write a value from 0 to 100000",
    ),
    (
        "count = 3",
        "count = 1.5",
        "t.toml:10:9: `station.0.count` is not a whole number: 1.5\n  help: round it, in an expression with floor(...)",
    ),
    ("count = 3", "count = -1", "t.toml:10:9: `station.0.count` is negative: -1\n  help: write 0 or more"),
    (
        "count = 3",
        "count = \"= 3*k\"",
        "t.toml:10:14: `station.0.count` cannot be computed: there is no `k`\
            \n  help: an expression may use numbers with units, + \
            - * / min max floor, and names from [param]",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[field]\narea = 3",
        "t.toml:21:8: `field.area` must be a list, not a bare number\n  help: write a pair like [\"100m\", \"500m\"]",
    ),
];

#[test]
fn every_bad_cell_has_its_message() {
    each_has_its_message(CASES);
}

#[test]
fn a_station_cannot_hide_the_server() {
    assert_eq!(
        set("station", "[{ name = \"server\" }]"),
        "--set:1:9: `station.0.name` cannot be \"server\", which is the wired end of a flow\n  help: choose another \
            name, like \"nas\"\n"
    );
}
