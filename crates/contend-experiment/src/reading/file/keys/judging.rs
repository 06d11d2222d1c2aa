//! The keys of the tables that say what must hold, what is drawn and what is searched.

use super::Default::{Required, Value, Words};
use super::{Key, Kind, Table, key, word};
use crate::reading::file::test::{Fidelity, Tier};
use crate::reading::file::{Bound, Origin};

const EXPECTATION: &[Kind] = &[Kind::Table(&EXPECT)];
const OVERLAY: &[Kind] = &[Kind::Map("of key paths and values", &[])];
#[rustfmt::skip]
const METRIC: Key = key("metric", &[Kind::Expression], Required, "\"goodput.up / goodput.down\"",
    "The expression that is measured in each run.");
const EXPECTED: Key = key("expect", EXPECTATION, Required, "{ between = [1.2, 2.2] }", "The expected range or order.");
#[rustfmt::skip]
const OVER: Key = key("over", OVERLAY, Words("the metric itself"), "{ \"flow.0.window\" = \"1p\" }",
    "Settings of another point; the metric is divided by its value there, seed by seed.");
#[rustfmt::skip]
const LESS: Key = key("less", OVERLAY, Words("the metric itself"), "{ \"flow.0.window\" = \"1p\" }",
    "Settings of another point; the value of the metric there is subtracted, seed by seed.");
#[rustfmt::skip]
const WHEN: Key = key("when", &[Kind::Map("of swept keys with a value or a list of values", &[])],
    Words("every point"), "{ \"flow.0.window\" = [\"1p\", \"2p\"] }",
    "The points that count. Rows of a `zip` that have labels may be named: { home = \"old\" }.");
#[rustfmt::skip]
const EACH: Key = key("each", &[Kind::Word(&[
        word("every", "It must hold at each point."),
        word("mean", "It must hold for the mean over the points."),
        word("any", "It must hold at one point at least."),
    ])], Value("\"every\""), "\"mean\"", "Where the expectation must hold.");
#[rustfmt::skip]
const POOL: Key = key("pool", &[Kind::Flag], Value("false"), "true",
    "True if dividend and divisor are summed over all seeds before the division: of a metric that is a quotient, or \
        with `over` of the metric here and there (of a quotient with `over`, both). So a seed with little \
        or nothing counts as it should.");

const VERDICT: Kind = Kind::Word(&[
    word("reproduced", "The measured value is in the expected range."),
    word("not reproduced", "The measured value is outside the expected range; the file gives the reason."),
    word("contradiction", "The paper's own statements contradict each other."),
    word(
        "tie",
        "The value is on its bound: the interval crosses it and is within 2 % of it. Of ratios and printed numbers \
            only; with the bound 1 neither side is ahead.",
    ),
    word("undecided", "The interval crosses the bound: more seeds are needed."),
]);
/// The readings of `[readings]`.
pub(super) const READINGS: Kind =
    Kind::Map("of names, each a table of readings", &[Kind::Map("of names, each with key paths and values", OVERLAY)]);

#[rustfmt::skip]
pub(super) static CLAIM: Table = Table {
    heading: "[[claim]]",
    doc: "A statement of a paper, checked by the runs. The file records the verdict; a run that disagrees ends with \
        status 1.",
    has_members: false,
    keys: &[
        key("id", &[Kind::Text], Required, "\"H1\"", "The name of the claim; each claim has its own."),
        key("paper", &[Kind::Text], Value("\"\""), "\"2 uploads: 9.62 Mb/s\"", "The statement, in the paper's words."),
        key("source", &[Kind::Word(&[
                word(Origin::Paper.name(), Origin::Paper.meaning()),
                word(Origin::Specification.name(), Origin::Specification.meaning()),
                word(Origin::Beyond.name(), Origin::Beyond.meaning()),
            ])], Value("\"paper\""), "\"specification\"", "Whose claim it is. Verdicts are counted for each source."),
        METRIC,
        EXPECTED,
        OVER,
        LESS,
        WHEN,
        EACH,
        POOL,
        key("verdict", &[VERDICT, Kind::Map("of readings and the verdict under each", &[VERDICT])],
            Value("\"reproduced\""), "\"reproduced\"", "The recorded verdict."),
        key("reason", &[Kind::Text], Words("none; a verdict other than \"reproduced\" needs one"),
            "\"the paper's window is unknown\"", "Why the verdict is not \"reproduced\"."),
        key("reading", &[Kind::Map("of names, each with key paths and values", OVERLAY), Kind::Text],
            Words("the file as it is"), "{ printed = { \"flow.0.window\" = \"1p\" } }",
            "Ways to read the paper: a name with settings for each, or the name of a table of [readings]. Each is \
            judged. The first counts: choose it by the text, before the runs."),
    ],
};

#[rustfmt::skip]
pub(super) static CHECK: Table = Table {
    heading: "[[check]]",
    doc: "A target of yours. A run in which it is not met ends with status 1.",
    has_members: false,
    keys: &[
        key("what", &[Kind::Text], Required, "\"calls below 30 ms\"", "The target in words."),
        key("id", &[Kind::Text], Words("an alternative to no other check"), "\"delay\"",
            "A short name. Checks with the same name are alternatives: one of them is enough."),
        key("bound", &[Kind::Word(&[
                word(Bound::Source.name(), Bound::Source.meaning()),
                word(Bound::Practice.name(), Bound::Practice.meaning()),
                word(Bound::Derived.name(), Bound::Derived.meaning()),
                word(Bound::Ours.name(), Bound::Ours.meaning()),
            ])], Words("not said"), "\"source\"", "Where the bound comes from."),
        key("why", &[Kind::Text], Words("none; a bound that is derived or ours needs one"),
            "\"half of what tail drop has\"", "Why the bound is what it is."),
        key("informative", &[Kind::Flag], Value("false"), "true", "True if the answer is shown and never counted."),
        METRIC,
        EXPECTED,
        OVER,
        LESS,
        WHEN,
        EACH,
        POOL,
    ],
};

#[rustfmt::skip]
pub(super) static TEST: Table = Table {
    heading: "[test]",
    doc: "What the file is as a test of a suite (`contend evaluate`). In [sweep] the value labelled `subject` stands \
        for the thing under test.",
    has_members: false,
    keys: &[
        key("tier", &[Kind::Word(&[
                word(Tier::ALL[0].0, "It runs in every evaluation."),
                word(Tier::ALL[1].0, "It runs with --full only."),
            ])], Value("\"default\""), "\"full\"", "When the test runs."),
        key("fidelity", &[Kind::Word(&[
                word(Fidelity::ALL[0].0, "As the cited text has it."),
                word(Fidelity::ALL[1].0, "With other rates, times or traffic; `notes` says which."),
                word(Fidelity::ALL[2].0, "With something else in the place of a part; `notes` says what."),
            ])], Value("\"as written\""), "\"adapted\"", "How close the test is to the cited text."),
        key("needs", &[Kind::List(&Kind::Word(&[
                word("ecn", "A discipline marks packets in place of drops."),
            ]))], Value("[]"), "[\"ecn\"]", "What a subject must have; without it the test is not applicable."),
        key("missing", &[Kind::Text], Words("it can be simulated"), "\"contend has no such sender\"",
            "Why the test cannot be simulated; the file then needs `title` and `cite` only, and is listed."),
    ],
};

#[rustfmt::skip]
static EXPECT: Table = Table {
    heading: "expect of a [[claim]] or [[check]]",
    doc: "Exactly one expectation. Bounds are numbers, or quantities in the metric's kind of unit.",
    has_members: false,
    keys: &[
        key("between", &[Kind::List(&Kind::Quantity)], Words("another expectation"), "[1.2, 2.2]",
            "The lower and the upper end."),
        key("at_least", &[Kind::Quantity], Words("another expectation"), "0.9", "The smallest expected value."),
        key("at_most", &[Kind::Quantity], Words("another expectation"), "\"10ms\"", "The largest expected value."),
        key("near", &[Kind::Quantity], Words("another expectation"), "1.5",
            "The expected value; `within` gives the tolerance."),
        key("within", &[Kind::Quantity], Words("\"10%\" with `near`"), "\"5%\"",
            "Largest distance from `near`: a share of it, or an amount."),
        key("increasing", &[Kind::Flag], Words("another expectation"), "true",
            "True if the metric grows along the swept key `along`."),
        key("decreasing", &[Kind::Flag], Words("another expectation"), "true",
            "True if the metric falls along the swept key `along`."),
        key("order", &[Kind::List(&Kind::Quantity), Kind::List(&Kind::Text)], Words("another expectation"),
            "[\"2p\", \"1p\"]",
            "Values of the swept key `along`; the value with the largest metric comes first."),
        key("along", &[Kind::KeyPath], Words("must be given with `increasing`, `decreasing` and `order`"),
            "\"flow.0.window\"", "The swept key along which the metric changes."),
    ],
};

#[rustfmt::skip]
pub(super) static FIGURE: Table = Table {
    heading: "[[figure]]",
    doc: "A chart in the report.",
    has_members: false,
    keys: &[
        key("title", &[Kind::Text], Words("the expressions"), "\"Goodput over windows\"", "The heading."),
        key("x", &[
                Kind::Word(&[
                    word("flow", "One bar for each flow."),
                    word("time", "The figure is drawn over time, with the step `sample`."),
                ]),
                Kind::KeyPath,
                Kind::Expression,
                Kind::Text,
            ], Required, "\"flow.0.window\"",
            "The horizontal axis: a swept key, a metric, a word, or a name of yours with `values`."),
        key("y", &[Kind::Expression, Kind::List(&Kind::Expression)], Required, "[\"goodput.up\", \"goodput.down\"]",
            "The vertical axis: one line for each expression."),
        key("log", &[Kind::Word(&[
                word("x", "The horizontal axis is logarithmic."),
                word("y", "The vertical axis is logarithmic."),
                word("xy", "Both axes are logarithmic."),
            ])], Words("linear axes"), "\"y\"",
            "The logarithmic axes; they have no place for zero and negative values."),
        key("by", &[Kind::KeyPath, Kind::List(&Kind::KeyPath)], Words("one line for each expression"),
            "\"flow.0.window\"",
            "A swept key; one line for each of its values. A second key of a list makes the panels: one for each of \
            its values, with equal axes."),
        key("when", WHEN.kinds, WHEN.default, WHEN.example, "The points that are drawn."),
        key("values", &[Kind::List(&Kind::Quantity)], Words("the values of the swept key"), "[1, 2, 4]",
            "Values along the axis `x`, if `x` is a name of yours; `y` reads them with point(\"NAME\")."),
    ],
};

#[rustfmt::skip]
pub(super) static PROGRAM: Table = Table {
    heading: "[[program]]",
    doc: "A program that `contend emulate` starts in a host; other commands ignore it. It ends with the run.",
    has_members: false,
    keys: &[
        key("in", &[Kind::Text], Words("the first station"), "\"server\"",
            "The host: a station or node of the file, `sta0`, `sta1`, ..., or `server`."),
        key("run", &[Kind::Text], Required, "\"iperf3 -s\"", "The command line, for `sh`."),
        key("start", &[Kind::Time], Value("\"0s\""), "\"2s\"", "When it starts."),
    ],
};

#[rustfmt::skip]
pub(super) static SEARCH: Table = Table {
    heading: "[search]",
    doc: "Finds, at each point, the value of a key at which a condition begins to hold, by bisection.",
    has_members: false,
    keys: &[
        key("key", &[Kind::KeyPath], Required, "\"flow.0.window\"", "The key that is varied."),
        key("from", &[Kind::Quantity], Required, "\"1p\"", "The first value, at which the condition does not hold."),
        key("to", &[Kind::Quantity], Required, "\"100p\"", "The last value, at which it holds."),
        key("until", &[Kind::Expression], Required, "\"jain >= 0.95\"", "The condition."),
    ],
};
