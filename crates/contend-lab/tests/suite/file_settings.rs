//! `--sweep KEY=a,b,c`, which is the setting `sweep.KEY=a,b,c`, and how many seeds a point gets.

use contend_lab::experiment::results::PointKey;
use contend_lab::reading::file::{Experiment, FileError, parse};
use serde_json::{Value, json};

const FILE: &str = r#"
duration = "2s"
[wifi]
standard = "802.11g"
[[flow]]
name = "call"
from = "server"
to = "station"
tcp = "reno"
"#;

const SWEEP: &str = "[sweep]\n\"flow.call.count\" = [1, 2]\n\"wifi.slot\" = [\"9us\", \"20us\"]\n";

fn read(more: &str, sets: &[(&str, &str)]) -> Result<Experiment, FileError> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    parse("t.toml", &format!("{FILE}{more}"), &sets)
}

fn points(more: &str, sets: &[(&str, &str)]) -> Vec<PointKey> {
    read(more, sets).unwrap_or_else(|e| panic!("{}", e.render(false))).points
}

fn error(more: &str, sets: &[(&str, &str)]) -> String {
    read(more, sets).map(|_| String::new()).unwrap_or_else(|e| e.render(false))
}

/// The values of `key` at each point.
fn values(points: &[PointKey], key: &str) -> Value {
    points.iter().map(|p| (*p[key]).clone()).collect()
}

#[test]
fn several_keys_give_all_combinations() {
    let p = points("", &[("sweep.ap.queue", "fifo,fq_codel"), ("sweep.flow.0.count", "1..3")]);
    assert_eq!(values(&p, "ap.queue"), json!(["fifo", "fifo", "fifo", "fq_codel", "fq_codel", "fq_codel"]));
    assert_eq!(values(&p, "flow.0.count"), json!([1, 2, 3, 1, 2, 3]));
}

#[test]
fn a_key_of_the_file_gets_new_values_in_its_place() {
    // The key keeps the words of the file.
    let p = points(SWEEP, &[("sweep.flow.0.count", "4,5,6")]);
    assert_eq!(values(&p, "flow.call.count"), json!([4, 4, 5, 5, 6, 6]));
    // Quotes as in `--set`.
    assert_eq!(p, points(SWEEP, &[("sweep.\"flow.call.count\"", "[4, 5, 6]")]));
    assert_eq!(points(SWEEP, &[("sweep.wifi.slot", "9us")]).len(), 2);
}

#[test]
fn keys_of_a_zip_stay_together() {
    let zip = "zip = [[\"flow.0.count\", \"wifi.slot\"]]\n";
    let p = points(&format!("{SWEEP}{zip}"), &[("sweep.flow.0.count", "4,5")]);
    assert_eq!((p.len(), values(&p, "flow.call.count")), (2, json!([4, 5])));
    let e = error(&format!("{SWEEP}{zip}"), &[("sweep.flow.0.count", "4..6")]);
    assert!(e.contains("pairs lists of different length: 3 and 2 values"), "{e}");
}

#[test]
fn the_later_option_for_a_key_wins() {
    let (set, sweep) = (("flow.0.count", "9"), ("sweep.flow.call.count", "3,4"));
    assert_eq!(values(&points(SWEEP, &[set, sweep]), "flow.call.count"), json!([3, 3, 4, 4]));
    assert_eq!(values(&points(SWEEP, &[sweep, set]), "flow.call.count"), json!([9, 9]));
    assert_eq!(values(&points(SWEEP, &[sweep, ("sweep.flow.0.count", "7")]), "flow.call.count"), json!([7, 7]));
}

#[test]
fn a_wrong_sweep_is_shown_at_its_place() {
    for (key, values, message) in [
        ("flow.cal.count", "1,2", "--sweep:1:1: `flow.cal.count`: no [[flow]] has the name or number `cal`"),
        ("flow.0.cuont", "1,2", "--sweep:1:1: there is no key `flow.0.cuont`"),
        ("flow.0.count", "1,x", "--sweep:1:16: `flow.0.count` must be"),
        ("flow.0.count", "1,1", "`sweep.\"flow.0.count\"` has the value 1 twice"),
        ("flow.0.count", "", "`flow.0.count`: a value is missing"),
        ("flow.0.count", "[]", "`sweep.\"flow.0.count\"` is an empty list"),
        ("flow.0.count", "5..1", "`flow.0.count`: the range 5..1 is empty"),
        ("wifi.slot", "9us,20", "--sweep:1:15: `wifi.slot` has no unit: 20"),
        ("seeds", "1,2", "`seeds` is the same at every point"),
        ("flow.0.name", "\"a\\u0007b\"", "control character"),
    ] {
        let e = error("", &[(&format!("sweep.{key}"), values)]);
        assert!(e.contains(message), "{key}={values}: {e}");
    }
    assert!(error("", &[("sweep.flow.0.count", "1..400"), ("sweep.wifi.cwmin", "1..400")]).contains("100000 points"));
}

#[test]
fn seeds_with_a_precision_are_read() {
    let e = read("", &[("seeds", "{ until = \"2%\", of = \"goodput.call\", at_most = 50, from = 7 }")]).unwrap();
    let until = e.until.as_ref().unwrap();
    assert_eq!((e.seeds.as_slice(), until.share, until.of.as_str()), (&[7, 8, 9, 10, 11][..], 0.02, "goodput.call"));
    assert_eq!((until.at_most, e.seed(4), e.seed(5), e.seed(49)), (50, Some(11), Some(12), Some(56)));
    let e = read("", &[("seeds", "[3, 9, 4]"), ("decide", "300")]).unwrap();
    assert_eq!((e.decide.map(|d| d.seeds), e.seed(1), e.seed(3), e.seed(5)), (Some(300), Some(9), Some(10), Some(12)));
    assert_eq!(read("", &[("seeds", "18446744073709551614..18446744073709551615")]).unwrap().seed(2), None);
    for (key, value, message) in [
        ("seeds", "{ until = \"2%\" }", "`seeds` needs `of`"),
        ("seeds", "{ of = \"jain\" }", "`seeds` needs `until`"),
        ("seeds", "{ until = \"0%\", of = \"jain\" }", "`seeds.until` is out of range"),
        ("seeds", "{ until = \"2s\", of = \"jain\" }", "`seeds.until` must be"),
        ("seeds", "{ until = \"2%\", of = \"jain\", at_most = 4 }", "`seeds.at_most` is too small: 4"),
        ("seeds", "{ until = \"2%\", of = \"jain\", most = 9 }", "there is no key `seeds.most`"),
        ("decide", "1", "--decide:1:1: `decide` is too small: 1"),
        ("decide", "all", "--decide:1:1: `decide` must be"),
        ("decide", "{ readings = \"first\" }", "`decide` needs `seeds`"),
        ("decide", "{ seeds = 20, readings = \"second\" }", "`decide.readings`"),
    ] {
        let e = error("", &[(key, value)]);
        assert!(e.contains(message), "{key}={value}: {e}");
    }
    let wrong = read("", &[("seeds", "{ until = \"2%\", of = \"godput\" }")]).unwrap();
    let e = contend_lab::judging::claim::validate(&wrong).unwrap_err().render(false);
    assert!(e.contains("godput") && e.contains("goodput"), "{e}");
}

#[test]
fn seeds_of_the_call_replace_decide_of_the_file() {
    let of_file = |sets: &[(&str, &str)]| {
        let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        parse("t.toml", &format!("seeds = \"1..5\"\ndecide = 50\n{FILE}"), &sets).unwrap().decide.map(|d| d.seeds)
    };
    assert_eq!(of_file(&[]), Some(50));
    assert_eq!(of_file(&[("seeds", "1..3")]), None);
    assert_eq!(of_file(&[("seeds", "1..3"), ("decide", "20")]), Some(20));
    assert_eq!(of_file(&[("decide", "20")]), Some(20));
}

#[test]
fn when_selects_points_that_exist_unless_the_call_changed_their_keys() {
    const CHECK: &str = "[[check]]\nwhat = \"all\"\nmetric = \"jain\"\nexpect = { at_least = 0.1 }\n";
    let when = |when: &str| format!("{SWEEP}{CHECK}when = {when}\n");
    let one = when("{ \"flow.call.count\" = 1 }");
    for sets in [&[][..], &[("seeds", "7")], &[("flow.call.count", "1")], &[("flow.0.count", "5")]] {
        assert!(read(&one, sets).is_ok(), "{}", error(&one, sets));
    }
    // Neither other seeds nor another key make a wrong selection right.
    for sets in [&[][..], &[("seeds", "7")], &[("wifi.slot", "9us")]] {
        assert!(error(&when("{ \"flow.call.coutn\" = 1 }"), sets).contains("not swept"), "{sets:?}");
        assert!(error(&when("{ \"flow.call.count\" = 7 }"), sets).contains("is not a value of the sweep"), "{sets:?}");
    }
    // Without a sweep in the file, its checks may be about one of the call.
    let unswept = format!("{CHECK}when = {{ \"ap.queue\" = \"codel\" }}\n");
    assert!(error(&unswept, &[("seeds", "7")]).contains("not swept"));
    assert!(read(&unswept, &[("sweep.ap.queue", "fifo,codel")]).is_ok());
}

#[test]
fn a_setting_that_touches_the_sweep_says_what_still_runs() {
    let remarks = |more: &str, sets: &[(&str, &str)]| read(more, sets).unwrap().remarks;
    assert_eq!(remarks(SWEEP, &[]), [""; 0]);
    assert_eq!(
        remarks(SWEEP, &[("flow.call.count", "2")]),
        ["--set flow.0.count: 2 points run; still swept: wifi.slot"]
    );
    let zip = format!("{SWEEP}zip = [[\"flow.call.count\", \"wifi.slot\"]]\n");
    assert_eq!(remarks(&zip, &[("wifi.slot", "9us")]), ["--set wifi.slot: 2 points run; still swept: flow.call.count"]);
    let both = [("wifi.slot", "9us"), ("flow.call.count", "1")];
    assert_eq!(remarks(&zip, &both), ["--set wifi.slot, flow.0.count: 1 point runs; no key is swept"]);
}

#[test]
fn a_part_of_a_swept_value_is_not_set_in_vain() {
    let queues = "[sweep]\n\"ap.queue\" = [\"fifo\", { kind = \"fifo\", limit = \"9p\" }]\n";
    let wrong = error(queues, &[("ap.queue.limit", "50p")]);
    assert!(wrong.contains("`ap.queue.limit` changes nothing: each point replaces `ap.queue`"), "{wrong}");
    assert!(wrong.contains("help: set the whole: --set 'ap.queue={ kind = "), "{wrong}");
}

#[test]
fn a_name_in_place_of_a_table_says_what_it_drops() {
    let queue = "[ap]\nqueue = { kind = \"fifo\", limit = \"9p\" }\n";
    let remarks = |key: &str| read(queue, &[(key, "codel")]).unwrap().remarks;
    assert_eq!(
        remarks("ap.queue"),
        ["--set ap.queue=codel drops limit of the file; --set ap.queue.kind=codel keeps the rest"]
    );
    assert_eq!(remarks("ap.queue.kind"), [""; 0]);
}

#[test]
fn a_single_seed_is_called_one() {
    let remarks = |seeds: &str| read("", &[("seeds", seeds)]).unwrap().remarks;
    assert_eq!(remarks("5"), ["--seeds 5 is one seed, number 5; --seeds 1..5 runs 5 seeds"]);
    assert!(remarks("1").is_empty() && remarks("1..5").is_empty());
}
