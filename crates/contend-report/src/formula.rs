//! Formulas as trees, and as MathML. The grammar is that of [`contend_core::formulas`].

use contend_core::Refusal;
use std::collections::BTreeSet;

/// A part of a formula.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Number(String),
    /// A name and its subscript, which may be empty.
    Name(String, String),
    /// `f(x, y)`, and `x[i]` with brackets.
    Call(Box<Part>, char, Vec<Part>),
    /// Words.
    Words(String),
    /// Parts between two delimiters, separated by commas.
    Group(char, Vec<Part>, char),
    /// `√` of a part.
    Root(Box<Part>),
    /// `Σ` over an index.
    Sum(String, Box<Part>),
    Power(Box<Part>, Box<Part>),
    Over(Box<Part>, Box<Part>),
    /// Operands and the operators between them; an operator first is a sign.
    Chain(Vec<Link>),
}

#[derive(Clone, Debug, PartialEq)]
enum Link {
    Operator(char),
    Operand(Part),
}

const RELATIONS: &str = "=←≤≥<>≈≠∈";
/// Delimiters that open a group, and those that close it.
const GROUPS: [(char, char); 5] = [('(', ')'), ('|', '|'), ('⌊', '⌋'), ('⌈', '⌉'), ('{', '}')];

/// A formula that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula(Part);

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// When the text does not obey the grammar.
    pub fn parse(text: &str) -> Result<Formula, Refusal> {
        let mut reader = Reader { rest: text, whole: text };
        let tree = reader.relation()?;
        if reader.peek().is_some() { Err(reader.wrong("an operator")) } else { Ok(Formula(tree)) }
    }
    /// As MathML. A name that is one of `whole`, like a parameter's, keeps its `_`: what follows is no subscript.
    pub fn mathml(&self, whole: &[&str]) -> String {
        let mut writer = Writer { whole, out: "<math>".to_owned() };
        writer.write(&self.0);
        writer.out + "</math>"
    }
    /// The symbols in it, with their subscripts: not functions, not words.
    pub fn symbols(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        symbols(&self.0, &mut found);
        found
    }
}

/// The parts of a text in words: each is words, or a formula between backticks.
///
/// # Errors
/// When a formula does not obey the grammar.
pub fn pieces(text: &str) -> Result<Vec<Result<&str, Formula>>, Refusal> {
    let parts = text.split('`').enumerate().filter(|(_, part)| !part.is_empty());
    parts.map(|(i, part)| if i % 2 == 0 { Ok(Ok(part)) } else { Formula::parse(part).map(Err) }).collect()
}

/// Reads from the start of `rest`.
struct Reader<'a> {
    rest: &'a str,
    whole: &'a str,
}

impl<'a> Reader<'a> {
    fn wrong(&self, wanted: &str) -> Refusal {
        let at = self.whole.len() - self.rest.len();
        let place = self.whole.get(..at).unwrap_or_default();
        Refusal::new(
            format!("the formula `{}` cannot be read after `{place}`", self.whole),
            format!("there must be {wanted}"),
        )
    }
    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }
    fn take(&mut self, c: char) -> bool {
        let is_there = self.peek() == Some(c);
        if is_there {
            self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        }
        is_there
    }
    fn take_any(&mut self, of: &str) -> Option<char> {
        self.peek().filter(|&c| of.contains(c) && self.take(c))
    }
    /// The characters up to the first that is not `wanted`.
    fn run(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }
    fn relation(&mut self) -> Result<Part, Refusal> {
        self.chain(RELATIONS, "", &Self::sum)
    }
    fn sum(&mut self) -> Result<Part, Refusal> {
        self.chain("+−", "−", &Self::product)
    }
    /// Operands of `inner` with operators between them; one of `signs` may come first.
    fn chain(
        &mut self,
        operators: &str,
        signs: &str,
        inner: &dyn Fn(&mut Self) -> Result<Part, Refusal>,
    ) -> Result<Part, Refusal> {
        let mut links: Vec<Link> = self.take_any(signs).map(Link::Operator).into_iter().collect();
        let first = inner(self)?;
        if links.is_empty() && !self.peek().is_some_and(|c| operators.contains(c)) {
            return Ok(first);
        }
        links.push(Link::Operand(first));
        while let Some(c) = self.take_any(operators) {
            links.push(Link::Operator(c));
            links.push(Link::Operand(inner(self)?));
        }
        Ok(Part::Chain(links))
    }
    /// Factors. What stands before a stroke is its numerator.
    fn product(&mut self) -> Result<Part, Refusal> {
        let mut links = vec![Link::Operand(self.power()?)];
        while let Some(c) = self.take_any("·/") {
            let next = self.power()?;
            if c == '/' {
                let over = Part::Over(Box::new(chain(links)), Box::new(next));
                links = vec![Link::Operand(over)];
            } else {
                links.extend([Link::Operator('·'), Link::Operand(next)]);
            }
        }
        Ok(chain(links))
    }
    fn power(&mut self) -> Result<Part, Refusal> {
        let base = self.atom()?;
        if !self.take('^') {
            return Ok(base);
        }
        let is_negative = self.take('−');
        let exponent = self.atom()?;
        let exponent =
            if is_negative { Part::Chain(vec![Link::Operator('−'), Link::Operand(exponent)]) } else { exponent };
        Ok(Part::Power(Box::new(base), Box::new(exponent)))
    }
    fn atom(&mut self) -> Result<Part, Refusal> {
        let Some(c) = self.peek() else { return Err(self.wrong("a name or a number")) };
        if c.is_ascii_digit() {
            return Ok(Part::Number(self.run(|c| c.is_ascii_digit() || c == '.').to_owned()));
        }
        if self.take('"') {
            let words = self.run(|c| c != '"').to_owned();
            return if self.take('"') { Ok(Part::Words(words)) } else { Err(self.wrong("a closing quotation mark")) };
        }
        if self.take('√') {
            return Ok(Part::Root(Box::new(self.atom()?)));
        }
        if self.take('Σ') {
            let index = self.subscript()?;
            return Ok(Part::Sum(index, Box::new(self.atom()?)));
        }
        if self.take('∞') {
            return Ok(Part::Name("∞".to_owned(), String::new()));
        }
        if let Some(&(open, close)) = GROUPS.iter().find(|g| g.0 == c) {
            self.take(open);
            return Ok(Part::Group(open, self.list(close)?, close));
        }
        let name = self.run(|c| c.is_alphanumeric() || c == '′').to_owned();
        if name.is_empty() {
            return Err(self.wrong("a name or a number"));
        }
        let subscript = self.subscript()?;
        let name = Part::Name(name, subscript);
        // A call has no space before its parenthesis.
        for (open, close) in [('(', ')'), ('[', ']')] {
            if self.rest.starts_with(open) {
                self.take(open);
                return Ok(Part::Call(Box::new(name), open, self.list(close)?));
            }
        }
        Ok(name)
    }
    /// What follows `_`, without braces; empty if there is no `_`.
    fn subscript(&mut self) -> Result<String, Refusal> {
        let Some(rest) = self.rest.strip_prefix('_') else { return Ok(String::new()) };
        self.rest = rest;
        if !self.take('{') {
            return Ok(self.run(|c| c.is_alphanumeric() || c == '_').to_owned());
        }
        let inner = self.run(|c| c != '}').to_owned();
        if self.take('}') { Ok(inner) } else { Err(self.wrong("a closing brace")) }
    }
    /// Parts with commas between them, up to `close`.
    fn list(&mut self, close: char) -> Result<Vec<Part>, Refusal> {
        let mut parts = Vec::new();
        if self.take(close) {
            return Ok(parts);
        }
        loop {
            parts.push(self.relation()?);
            if self.take(close) {
                return Ok(parts);
            }
            if !self.take(',') {
                return Err(self.wrong(&format!("a comma or `{close}`")));
            }
        }
    }
}

/// A chain; a single operand stays itself.
fn chain(mut links: Vec<Link>) -> Part {
    match links.pop() {
        Some(Link::Operand(only)) if links.is_empty() => only,
        Some(last) => {
            links.push(last);
            Part::Chain(links)
        }
        None => Part::Chain(links),
    }
}

/// Writes MathML.
struct Writer<'a> {
    whole: &'a [&'a str],
    out: String,
}

impl Writer<'_> {
    fn write(&mut self, part: &Part) {
        match part {
            Part::Number(n) => self.out += &format!("<mn>{n}</mn>"),
            Part::Name(name, subscript) => self.name(name, subscript),
            Part::Call(name, open, list) => {
                self.write(name);
                self.between(*open, list, if *open == '(' { ')' } else { ']' });
            }
            Part::Words(words) => self.out += &format!("<mtext>{}</mtext>", escaped(words)),
            Part::Group(open, list, close) => self.between(*open, list, *close),
            Part::Root(of) => self.element("msqrt", &[bare(of)]),
            Part::Sum(index, of) => {
                self.out += "<munder><mo>∑</mo>";
                self.name(index, "");
                self.out += "</munder>";
                self.write(of);
            }
            Part::Power(base, exponent) => self.element("msup", &[base, bare(exponent)]),
            Part::Over(over, under) => self.element("mfrac", &[bare(over), bare(under)]),
            Part::Chain(links) => links.iter().for_each(|link| match link {
                Link::Operator(c) => self.out += &format!("<mo>{}</mo>", escaped(&c.to_string())),
                Link::Operand(p) => self.write(p),
            }),
        }
    }
    /// An element of rows.
    fn element(&mut self, tag: &str, of: &[&Part]) {
        self.out += &format!("<{tag}>");
        for part in of {
            self.out += "<mrow>";
            self.write(part);
            self.out += "</mrow>";
        }
        self.out += &format!("</{tag}>");
    }
    /// A name: a single letter is italic, as MathML has it; a longer one is upright.
    fn name(&mut self, name: &str, subscript: &str) {
        let all = format!("{name}_{subscript}");
        let name = escaped(name);
        self.out += &match subscript {
            "" => format!("<mi>{name}</mi>"),
            _ if self.whole.contains(&all.as_str()) => format!("<mi>{}</mi>", escaped(&all)),
            _ => format!("<msub><mi>{name}</mi><mtext>{}</mtext></msub>", escaped(subscript)),
        };
    }
    fn between(&mut self, open: char, list: &[Part], close: char) {
        self.out += &format!("<mrow><mo>{open}</mo>");
        for (i, p) in list.iter().enumerate() {
            if i > 0 {
                self.out += "<mo>,</mo>";
            }
            self.write(p);
        }
        self.out += &format!("<mo>{close}</mo></mrow>");
    }
}

/// The part without parentheses that a fraction, a root or an exponent makes needless.
fn bare(part: &Part) -> &Part {
    match part {
        Part::Group('(', list, _) => match list.as_slice() {
            [only] => only,
            _ => part,
        },
        _ => part,
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn symbols(part: &Part, found: &mut BTreeSet<String>) {
    match part {
        Part::Name(name, _) if name == "∞" => {}
        Part::Name(name, subscript) if subscript.is_empty() => {
            found.insert(name.clone());
        }
        Part::Name(name, subscript) => {
            found.insert(format!("{name}_{subscript}"));
        }
        Part::Call(name, open, list) => {
            // A sequence is a symbol, a function is none.
            if *open == '[' {
                symbols(name, found);
            }
            list.iter().for_each(|p| symbols(p, found));
        }
        Part::Group(_, list, _) => list.iter().for_each(|p| symbols(p, found)),
        Part::Root(of) | Part::Sum(_, of) => symbols(of, found),
        Part::Power(a, b) | Part::Over(a, b) => [a, b].into_iter().for_each(|p| symbols(p, found)),
        Part::Chain(links) => links.iter().for_each(|l| {
            if let Link::Operand(p) = l {
                symbols(p, found);
            }
        }),
        Part::Number(_) | Part::Words(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(text: &str) -> String {
        let all = Formula::parse(text).unwrap().mathml(&["rate_control"]);
        all.strip_prefix("<math>").unwrap().strip_suffix("</math>").unwrap().to_owned()
    }

    #[test]
    fn a_product_before_a_stroke_is_its_numerator() {
        assert_eq!(
            inner("a · b / (c + 1)"),
            "<mfrac><mrow><mi>a</mi><mo>·</mo><mi>b</mi></mrow><mrow><mi>c</mi><mo>+</mo><mn>1</mn></mrow></mfrac>"
        );
    }

    #[test]
    fn subscripts_calls_and_relations() {
        assert_eq!(
            inner("W ← max(2, R_min)"),
            "<mi>W</mi><mo>←</mo><mi>max</mi><mrow><mo>(</mo><mn>2</mn><mo>,</mo><msub><mi>R</mi><mtext>min</mtext>\
                </msub><mo>)</mo></mrow>"
        );
        assert_eq!(
            inner("x_{i,k}^2"),
            "<msup><mrow><msub><mi>x</mi><mtext>i,k</mtext></msub></mrow><mrow><mn>2</mn></mrow></msup>"
        );
    }

    #[test]
    fn signs_roots_sums_and_words() {
        assert_eq!(inner("−x"), "<mo>−</mo><mi>x</mi>");
        assert_eq!(inner("√(x)"), "<msqrt><mrow><mi>x</mi></mrow></msqrt>");
        assert_eq!(
            inner("Σ_i (x)"),
            "<munder><mo>∑</mo><mi>i</mi></munder><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow>"
        );
        assert_eq!(inner("\"a < b\""), "<mtext>a &lt; b</mtext>");
        assert_eq!(inner("rate_control"), "<mi>rate_control</mi>");
        assert_eq!(inner("e^−x"), "<msup><mrow><mi>e</mi></mrow><mrow><mo>−</mo><mi>x</mi></mrow></msup>");
    }

    #[test]
    fn functions_are_no_symbols_and_sequences_are() {
        let found = Formula::parse("W_b ← min(x[k − 1], |y|) · 2 / z").unwrap().symbols();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["W_b", "k", "x", "y", "z"]);
    }

    #[test]
    fn a_wrong_formula_names_the_place() {
        for (text, after) in
            [("W ← + 1", "W ←"), ("(a", "(a"), ("a b", "a"), ("", ""), ("x_{a", "x_{a"), ("\"a", "\"a")]
        {
            let err = Formula::parse(text).unwrap_err();
            assert!(err.what.trim_end_matches([' ', '`']).ends_with(after), "{text}: {}", err.what);
        }
    }
}
