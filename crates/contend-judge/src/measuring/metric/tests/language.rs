//! What texts mean, and which are refused.

use super::*;
use proptest::prelude::*;

#[test]
fn arithmetic_binds_as_usual() {
    is("1 + 2 * 3", 7.0);
    is("(1 + 2) * 3", 9.0);
    is("8 / 4 / 2", 1.0);
    is("8 - 4 - 2", 2.0);
    is("8 - (4 - 2)", 6.0);
    is("-2 * 3 + 10", 4.0);
    is("2 * -3", -6.0);
    is("- - 2", 2.0);
}

#[test]
fn numbers_have_units() {
    is("0.3Mbps", 3e5);
    is("54Mbps / 6Mbps", 9.0);
    is("15ms + 1s", 1.015);
    is("20us", 2e-5);
    is("1%", 0.01);
    is("100p", 100.0);
    is("10kB", 1e4);
    is("1e3 + 2.5E-1", 1000.25);
}

#[test]
fn errors_say_where_and_what_to_write() {
    let at = |text: &str, place: &str, help: &str| {
        let e = refused(text);
        assert_eq!(&text[e.span.clone()], place, "{text}: {e}");
        assert!(e.help.contains(help), "{text}: {e}");
    };
    at("1 + godput.up", "godput.up", "`goodput.up`");
    at("queue.dealy[ap]", "queue.dealy", "`queue.delay`");
    at("enqueued[ap]", "enqueued", "`offered`");
    at("1 - ap.loss", "ap.loss", "`loss[ap]`");
    at("snd_una[up][10s..15s]", "snd_una", "`acked`");
    at("meen(goodput[up])", "meen", "`mean`");
    at("mean(goodput.up)", "goodput.up", "mean(goodput[up])");
    at("count(goodput < 1Mbps)", "goodput", "count(goodput[all])");
    at("goodput[up] / 2", "goodput[up] / 2", "mean(...)");
    at("goodput.up + 15ms", "15ms", "0.3Mbps");
    at("count(goodput[up] < 300000)", "300000", "0.3Mbps");
    at("rtt.mean - 3", "3", "15ms");
    at("0.3 Mbps", "0.3 Mbps", "`0.3Mbps`");
    at("0.3Mbp", "Mbp", "Mbps");
    at("goodput.up > 3Mbps", ">", "count(");
    at("(1 + 2", "", "");
    at("1 + 2)", ")", "remove");
    at("1 2", "2", "+ - * /");
    at("", "", "goodput.up");
    at("1 +", "", "goodput.up");
    at("rtt[up.1][1s..2s]", "rtt[up.1][1s..2s]", "srtt");
    at("acked[up.1]", "acked[up.1]", "[10s..15s]");
    at("goodput.up[5..6]", "[5..6]", "units");
    at("goodput.up[6s..5s]", "[6s..5s]", "earlier");
    at("goodput.up[1s..2s][3s..4s]", "[3s..4s]", "one");
    at("goodput.up[up]", "[up]", "once");
    at("goodput[]", "[]", "[up]");
    at("goodput[up", "[up", "]");
    at("queue.length", "queue.length", "queue.length[ap]");
    at("lost.down", "lost.down", "`drops[ap]`");
    at("drops.down", "drops.down", "`drops[ap]`");
    at("drops.data.down", "drops.data.down", "`packet_loss.down`");
    at("queue.delay.p99.up", "queue.delay.p99.up", "`queue.delay.p99[up]`");
    at("ledger", "ledger", "ledger.idle");
    at("busy.up", "busy.up", "`busy` alone");
    at("jain[up]", "jain[up]", "jain.up");
    at("rtt.p100", "rtt.p100", "p95");
    at("rtt.trim49", "rtt.trim49", "`rtt.trim95`");
    at("fct.trim100[up]", "[up]", "`fct.trim95`");
    at("quantile(goodput[up], 2)", "2", "0.95");
    at("share(goodput.up, 5s)", ",", "share(goodput");
    at("share(goodput[up] > 1Mbps, 5s)", "goodput[up]", "mean(");
    at("share(timeouts.up > 1, 5s)", "timeouts.up", "goodput");
    at("share(goodput.up > 1Mbps, 500ms)", "500ms", "5s");
    at("model(\"bianchy.throughput\", n = 1)", "\"bianchy.throughput\"", "bianchi.throughput");
    at("model(\"cycle_time\", n_op = 1)", "n_op", "n_up");
    at("model(\"padhye.square_root_window\")", "\"padhye.square_root_window\"", "p = ...");
    at("model(\"padhye.square_root_window\", 1s)", "1s", "percentage");
    at("model(\"padhye.square_root_window\", 1%, p = 1%)", "p", "remove");
    at("goodput.up × 2", "×", "+ - * /");
    at("\"abc", "\"abc", "\"");
    at("1e999", "1e999", "1e308");
    at("goodput.up = 2", "=", "`==`");
    at("fingerprint[sta1]", "fingerprint[sta1]", "fingerprint.conformant[sta1]");
    at("fingerprint.slots", "fingerprint.slots", "fingerprint.slots[sta1]");
    at("interarrival", "interarrival", "interarrival.first[sta1]");
    at("jain(successes, 100)", "successes, 100", "jain(successes[up], 100)");
    at("jain(successes[up], 2.5)", "successes[up], 2.5", "jain(successes[up], 100)");
    at("jain(goodput[up], 100)", "100", "0.3Mbps");
}

#[test]
fn a_condition_compares_two_numbers_of_one_unit() {
    let c = Condition::parse("loss[ap] > 1%").unwrap();
    assert_eq!((c.relation, c.to_string().as_str()), (Relation::Greater, "loss[ap] > 1%"));
    assert!(Condition::parse("loss[ap]").unwrap_err().help.contains("> 1%"));
    assert!(Condition::parse("queue.delay[ap] > 1%").is_err());
    assert!(Condition::parse("goodput[up] > 1Mbps").is_err());
    assert!(Condition::parse("1 < 2 < 3").is_err());
}

#[test]
fn names_that_are_no_plain_words_are_quoted() {
    let e = Expr::parse("goodput[\"my flow]\"]").unwrap();
    assert_eq!(e.to_string(), "goodput[\"my flow]\"]");
    assert_eq!(Expr::parse(&e.to_string()), Ok(e));
}

#[test]
fn deep_and_long_texts_are_refused_and_not_followed() {
    for text in ["(".repeat(4_000), "-".repeat(4_000), "mean(".repeat(800), "1+".repeat(2_000) + "1", " ".repeat(5_000)]
    {
        assert!(Expr::parse(&text).is_err());
    }
    let long = vec!["1"; 200].join("+");
    assert_eq!(Expr::parse(&long).unwrap().eval(&empty(1)), Ok(200.0));
}

/// Expressions that parse, as text: operators at random between values.
fn texts() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "1",
        "2.5",
        "1e-3",
        "0.5%",
        "busy",
        "jain.up",
        "loss[ap]",
        "mean(goodput[up])/1kbps",
        "count(goodput[all] < 0.3Mbps)",
        "max(1, 2, busy)",
        "quantile(jain.up * fct[all] / 1s, 0.9)",
        "point(\"flow.1.count\")",
        "model(\"padhye.square_root_window\", p = 1%)",
        "jersey.ratio",
        "jersey.ratio(q = 1%) / jersey.ratio",
        "goodput.up[1s..2s] / 1Mbps",
        "cwnd[\"a b\"][1s..2.5s]",
        "rtt.p95 / 15ms",
        "max(fct.trim50[down]) - queue.delay.trim99[ap]",
        "count(goodput[up])",
        "drops[ap]",
        "drops.ack[sta1]",
        "jain.short",
        "jain(successes[up], 10 * 3)",
        "jain(successes[sta][1s..2s], point(\"flow.1.count\"))",
        "ledger.idle",
    ]);
    let leaf = value.prop_map(str::to_owned);
    leaf.prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["+", "-", "*", "/", " - ", " / "]), inner.clone())
                .prop_map(|(a, op, b)| format!("{a}{op}{b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.prop_map(|a| format!("-({a})")),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*") {
        let _ = Expr::parse(&text);
        let _ = Condition::parse(&text);
        let _ = contend_experiment::reading::expression::literal(&text);
        let _ = contend_experiment::reading::expression::evaluate(&text, &|_| None);
    }

    #[test]
    fn no_row_of_tokens_makes_parser_or_evaluation_panic(tokens in prop::collection::vec(prop::sample::select(vec![
        "goodput", "rtt", ".", "up", "[", "]", "[up]", "[1s..2s]", "..", "1", "1s", "%", "(", ")", ",", "+", "-", "*",
        "/", "<", "==", "=", "\"", "mean(", "count(",
        "quantile(", "model(", "\"cycle_time\"", "point(", "n_up", "é", " ", "e", "1e", "jain", "p95", "drops.ack",
        "successes[up]",
    ]), 0..24)) {
        let text = tokens.concat();
        for cut in (0..=text.len()).filter(|i| text.is_char_boundary(*i)) {
            match Expr::parse(&text[..cut]) {
                Ok(e) => { let _ = e.eval(&example()); }
                Err(e) => prop_assert!(text.get(e.span.clone()).is_some(), "{e:?}"),
            }
        }
    }

    #[test]
    fn what_is_printed_parses_back_to_the_same(text in texts()) {
        // Some texts are refused because of their units; the others must print correctly.
        if let Ok(e) = Expr::parse(&text) {
            let printed = e.to_string();
            let again = Expr::parse(&printed);
            prop_assert_eq!(again.as_ref(), Ok(&e), "{} -> {}", text, printed);
            prop_assert_eq!(again.unwrap().eval(&example()).is_ok(), e.eval(&example()).is_ok());
        }
    }
}
