//! Standards, modes, aggregates and channels that do not exist.

use super::set;
use contend_lab::reading::file::parse;

#[test]
fn a_short_name_of_a_standard_names_the_full_one() {
    for (given, name) in [
        ("n", "802.11n"),
        ("ac", "802.11ac"),
        ("802.11AC", "802.11ac"),
        ("ax", "802.11ax"),
        ("wifi6", "802.11ax"),
        ("Wi-Fi 6", "802.11ax"),
        ("be", "802.11be"),
    ] {
        let expected = format!("--set:1:15: `wifi.standard` is a short name\n  help: write \"{name}\"\n");
        assert_eq!(set("wifi.standard", given), expected);
    }
    let other = set("wifi.standard", "802.11z");
    assert!(other.contains("cannot be \"802.11z\"") && other.contains("802.11, 802.11b, 802.11a, 802.11g"), "{other}");
}

/// The error for the keys of `[wifi]` and `[[station]]`, without its place.
fn mode(wifi: &str, station: &str) -> String {
    let text = format!(
        "title = \"t\"\nduration = \"1s\"\n[wifi]\n{wifi}\n[[station]]\nname = \"a\"\n{station}\n[[flow]]\n\
        from = \"a\"\nto = \"server\"\nudp = {{ rate = \"1Mbps\" }}\n"
    );
    let wrong = parse("t.toml", &text, &[]).map_or_else(|e| e.render(false), |_| "(no error)".into());
    wrong.split_once(": ").map_or(wrong.clone(), |(_, rest)| rest.trim_end().replace("\n  help:", ";"))
}

#[test]
fn a_mode_of_a_cell_that_does_not_exist_names_the_nearest_that_does() {
    for (wifi, expected) in [
        (
            "standard = \"802.11n\"\nwidth = \"80MHz\"",
            "`wifi.width` is 80 MHz, which 802.11n does not have; write \
            width = \"40MHz\"; 802.11n has 20, 40 MHz",
        ),
        (
            "standard = \"802.11ac\"\nwidth = \"320MHz\"",
            "`wifi.width` is 320 MHz, which 802.11ac does not have; \
            write width = \"160MHz\"; 802.11ac has 20, 40, 80, 160 MHz",
        ),
        (
            "standard = \"802.11ax\"\nband = \"2.4GHz\"\nwidth = \"80MHz\"",
            "`wifi.width` is 80 MHz, which 802.11ax \
            does not have at 2.4GHz; write width = \"40MHz\"",
        ),
        (
            "standard = \"802.11ac\"\nband = \"2.4GHz\"",
            "`wifi.band` is 2.4GHz, where 802.11ac does not work; write \
            \"5GHz\"",
        ),
        (
            "standard = \"802.11ac\"\nmcs = 9",
            "`wifi.mcs` is 9, which 802.11ac does not have at 20 MHz with 1 stream; write mcs = \
            8, or another width or number of streams",
        ),
        ("standard = \"802.11ac\"\nmcs = 9\nstreams = 3", "(no error)"),
        (
            "standard = \"802.11ac\"\nmcs = 10",
            "`wifi.mcs` is 10, but 802.11ac has 0 to 9 for each stream; write mcs = 8",
        ),
        (
            "standard = \"802.11ac\"\nguard = \"1.6us\"",
            "`wifi.guard` is 1600 ns, which 802.11ac does not have; write guard = \
            \"800ns\"; 802.11ac has 400, 800 ns",
        ),
        (
            "standard = \"802.11ac\"\npacket_padding = \"8us\"",
            "`wifi.packet_padding` is 8 us, which 802.11ac does not have; \
            write packet_padding = \"0us\"; 802.11ac has 0 us",
        ),
        (
            "standard = \"802.11ac\"\nextended_range = true",
            "`wifi.extended_range` is for 802.11ax only; remove it, or write \
            standard = \"802.11ax\"",
        ),
        (
            "standard = \"802.11n\"\nmcs = 15\nstreams = 3",
            "`wifi.mcs` is 15, which has 2 streams, but `streams` is \
            3; write mcs = 23",
        ),
        (
            "standard = \"802.11g\"\nmcs = 7",
            "`wifi.mcs` is for standards with MCS, and 802.11g has rates; write rate \
            = \"54Mbps\", or standard = \"802.11ax\"",
        ),
        (
            "standard = \"802.11ax\"\nrate = \"54Mbps\"",
            "`wifi.rate` is for standards without MCS, and 802.11ax has \
            MCS; write mcs = 4 (51.6Mbps here)",
        ),
        (
            "standard = \"802.11a\"\nprotection = \"rts-cts\"",
            "`wifi.protection` is for 802.11g and later standards, \
            beside older stations; remove it, or write standard = \"802.11g\"",
        ),
    ] {
        assert_eq!(mode(wifi, ""), expected, "{wifi}");
    }
}

#[test]
fn a_mode_of_a_station_that_does_not_exist_names_the_nearest_that_does() {
    for (wifi, station, expected) in [
        (
            "standard = \"802.11n\"\nmcs = 15",
            "mcs = 33",
            "`station.0.mcs` is too large: 33; write a value from 0 to 31",
        ),
        (
            "standard = \"802.11ax\"",
            "rate = \"54Mbps\"",
            "`station.0.rate` is for standards without MCS, and 802.11ax \
            has MCS; write mcs = 4 (51.6Mbps here), or add standard = \"802.11a\"",
        ),
        ("standard = \"802.11ax\"", "standard = \"802.11a\"\nrate = \"54Mbps\"", "(no error)"),
        (
            "standard = \"802.11ax\"",
            "standard = \"802.11be\"",
            "`station.0.standard` is 802.11be, which cannot join a \
            cell of 802.11ax at 5GHz; write one of: 802.11a, 802.11n, 802.11ac, 802.11ax",
        ),
        (
            "standard = \"802.11ac\"\n",
            "width = \"80MHz\"\nstreams = 6\nmcs = 9",
            "`station.0.mcs` is 9, which 802.11ac does not have at 80 MHz with \
            6 streams; write mcs = 8, or another width or number of streams",
        ),
        (
            "standard = \"802.11ac\"\nwidth = \"40MHz\"",
            "width = \"20MHz\"",
            "`station.0` has a mode that does not exist: mcs is 9, \
            which 802.11ac does not have at 20 MHz with 1 stream; write mcs = 8, or another width or number of streams",
        ),
    ] {
        assert_eq!(mode(wifi, station), expected, "{wifi} / {station}");
    }
}

#[test]
fn aggregates_have_the_limits_of_the_standard() {
    for (wifi, expected) in [
        (
            "standard = \"802.11g\"\nampdu = {}",
            "`wifi.ampdu` needs 802.11n or a later standard; write standard = \"802.11n\", or remove it",
        ),
        (
            "standard = \"802.11n\"\nampdu = { window = 65 }",
            "`wifi.ampdu.window` is too large: 65; write a value from 1 to 64",
        ),
        (
            "standard = \"802.11n\"\nampdu = { bytes = \"65536B\" }",
            "`wifi.ampdu.bytes` is too large: 65536B; write a value from 1B to 65535B",
        ),
        (
            "standard = \"802.11ac\"\nampdu = { duration = \"6ms\" }",
            "`wifi.ampdu.duration` is longer than a PPDU may last; write at most \"5.484ms\"",
        ),
        (
            "standard = \"802.11ac\"\nampdu = { mpdus = 9, window = 8 }",
            "`wifi.ampdu.mpdus` is too large: 9; write a value from 1 to 8",
        ),
        (
            "standard = \"802.11n\"\nampdu = \"off\"\nmac_queue = \"100p\"",
            "`wifi.mac_queue` has no meaning without aggregates; write ampdu = {} from 802.11n on, or remove it",
        ),
        (
            "standard = \"802.11n\"\nampdu = {}\nmac_queue = \"100B\"",
            "`wifi.mac_queue` counts 1 to 1000000 packets; write for example mac_queue = \"128p\"",
        ),
        (
            "standard = \"802.11n\"\nampdu = { hw_queue = 65 }",
            "`wifi.ampdu.hw_queue` is too large: 65; write a value from 0 to 64",
        ),
        (
            "standard = \"802.11n\"\nampdu = \"off\"\n[ap]\naql = {}",
            "`ap.aql` has no meaning without aggregates; write ampdu = {} from 802.11n on, or remove it",
        ),
        (
            "standard = \"802.11n\"\nampdu = {}\n[ap]\naql = { high = \"4ms\" }",
            "`ap.aql` has a `high` limit below the `low` one; write a larger high, or a smaller low",
        ),
        ("standard = \"802.11n\"\nampdu = {}\n[ap]\naql = { low = \"2ms\", high = \"4ms\" }", "(no error)"),
        ("standard = \"802.11n\"\n[ap]\naql = \"off\"", "(no error)"),
        (
            "standard = \"802.11n\"\nampdu = { density = \"3us\" }",
            "`wifi.ampdu.density` is no start spacing; write 0us, 0.25us, 0.5us, 1us, 2us, 4us, 8us or 16us",
        ),
        (
            "standard = \"802.11n\"\nampdu = {}\namsdu = \"7935B\"",
            "`wifi.amsdu` is too large: 7935B; write a value from 1B to 4065B",
        ),
        ("standard = \"802.11n\"\nampdu = { msdu_limit = \"ns3\" }\namsdu = \"7935B\"", "(no error)"),
        ("standard = \"802.11n\"\nampdu = { density = \"0.25us\", lifetime_from = \"store\" }", "(no error)"),
        ("standard = \"802.11ax\"\nampdu = { window = 256, lifetime = \"never\" }", "(no error)"),
        ("standard = \"802.11ax\"\nampdu = \"off\"", "(no error)"),
        (
            "standard = \"802.11a\"\namsdu = \"3839B\"",
            "`wifi.amsdu` needs 802.11n or a later standard; write standard = \"802.11n\", or remove it",
        ),
        (
            "standard = \"802.11n\"\namsdu = \"7935B\"\nampdu = {}",
            "`wifi.amsdu` is too large: 7935B; write a value from 1B to 4065B",
        ),
        (
            "standard = \"802.11n\"\nampdu = \"off\"\namsdu = \"11398B\"",
            "`wifi.amsdu` is too large: 11398B; write a value from 1B to 7935B",
        ),
        (
            "standard = \"802.11ax\"\nband = \"2.4GHz\"\namsdu = \"11398B\"",
            "`wifi.amsdu` is too large: 11398B; write a value from 1B to 7935B",
        ),
        ("standard = \"802.11ax\"\namsdu = \"11398B\"\nmac_queue = \"20p\"", "(no error)"),
        ("standard = \"802.11n\"\namsdu = \"off\"", "(no error)"),
    ] {
        assert_eq!(mode(wifi, ""), expected, "{wifi}");
    }
}

#[test]
fn a_channel_without_an_snr_says_what_is_missing() {
    let add = "add snr = \"25dB\"; in a [field] also error_model = \"nist\" in [wifi]";
    let ac = "standard = \"802.11ac\"\n";
    for (wifi, station, expected) in [
        ("snr = \"500dB\"", "", "`wifi.snr` is 500dB; write a value from \"-20dB\" to \"100dB\"".to_owned()),
        ("snr = \"25\"", "", "`wifi.snr` is no number of dB: \"25\"; write a value from \"-20dB\" to \"100dB\"".into()),
        ("", "snr = \"-25dB\"", "`station.0.snr` is -25dB; write a value from \"-20dB\" to \"100dB\"".into()),
        ("snr = \"25dB\"", "", "(no error)".into()),
        ("", "snr = \"= 20 + k\"", "(no error)".into()),
        ("", "fading = \"rayleigh\"", format!("`station.0.fading` changes an SNR, but the channel has none; {add}")),
        ("fading = \"rayleigh\"", "snr = \"20dB\"", "(no error)".into()),
        (
            "fading = \"rayleigh\"",
            "",
            format!("`station.0` has a channel whose fading changes an SNR, but the channel has none; {add}"),
        ),
        (
            "",
            "rate_control = \"ideal\"",
            format!(
                "`station.0.rate_control` is \"ideal\", which reads the SNR of answers, but the channel has none; {add}"
            ),
        ),
        ("rate_control = \"minstrel_ht\"", "", "(no error)".into()),
        ("error_model = \"nist\"", "", "`wifi.error_model` needs an SNR; add snr = \"25dB\" to [wifi]".into()),
        (
            "snr = \"20dB\"\nerror_model = \"table\"",
            "",
            "`wifi.error_model` needs a file with its losses; write error_model = { kind = \"table\", \
                file = \"losses.csv\" }, with rows of SNR, MCS and PER"
                .into(),
        ),
    ] {
        assert_eq!(mode(&format!("{ac}{wifi}"), station), expected, "{wifi} / {station}");
    }
    let dsss = mode("standard = \"802.11b\"\nsnr = \"20dB\"", "");
    assert!(dsss.contains("`wifi` cannot use nist:") && dsss.contains("use rates of OFDM"), "{dsss}");
}

#[test]
fn durations_of_ns_3_are_for_frames_with_mcs() {
    let wrong = set("wifi.durations", "ns3");
    assert!(wrong.contains("is \"ns3\", which changes frames with MCS only"), "{wrong}");
}
