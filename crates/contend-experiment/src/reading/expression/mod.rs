//! The language of expressions in experiment files and metrics: numbers with units, names, calls, `+ - * /`.
//!
//! `"15ms"` is a quantity; `"= 10ms + 2ms*(k-1)"` in a file and `goodput.up / goodput.down` in a claim are expressions.
//! One parser ([`parse`]) reads both into a tree with the place of every part. The tree gives names and calls no
//! meaning. [`evaluate`] defines them for a file's quantities, and `contend_judge::measuring::metric` defines them for
//! metrics. Both use the functions of plain numbers in one table ([`FUNCTIONS`]).

mod evaluate;
mod function;
mod numbers;
mod parse_error;
pub mod quantity;
mod syntax;
mod token;

pub use evaluate::evaluate;
pub use function::{FUNCTIONS, NumberFunction, Yields};
pub use numbers::numbers;
pub use parse_error::ParseError;
pub use quantity::{Dimension, Quantity, WrittenUnit};
pub use syntax::{Argument, Bracket, Part, Syntax, parse};
pub use token::literal;

pub use parse_error::error;

use std::fmt;

/// A number with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Value in the base unit of `unit`.
    pub value: f64,
    /// Dimension of the number.
    pub unit: Dimension,
    /// Text as written, `0.3Mbps`.
    pub text: String,
}

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

impl Operator {
    /// The symbol in expressions.
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
        }
    }

    /// Binding power; operators with a higher power are applied first.
    pub fn power(self) -> u8 {
        match self {
            Operator::Add | Operator::Subtract => 1,
            Operator::Multiply | Operator::Divide => 2,
        }
    }

    /// The unit of the result for values with these units; `None` when the result has no unit.
    pub fn unit(self, left: Dimension, right: Dimension) -> Option<Dimension> {
        match self {
            Operator::Add | Operator::Subtract => left.plus(right),
            Operator::Multiply => left.times(right),
            Operator::Divide => left.divided_by(right),
        }
    }

    /// Applies the operator.
    pub fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide => left / right,
        }
    }
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

impl Relation {
    /// True if the relation holds between `x` and `y`. With a NaN only [`Relation::Unequal`] holds.
    pub fn holds(self, x: f64, y: f64) -> bool {
        match self {
            Relation::Less => x < y,
            Relation::AtMost => x <= y,
            Relation::Greater => x > y,
            Relation::AtLeast => x >= y,
            Relation::Equal => x == y,
            Relation::Unequal => x != y,
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::Less => "<",
            Relation::AtMost => "<=",
            Relation::Greater => ">",
            Relation::AtLeast => ">=",
            Relation::Equal => "==",
            Relation::Unequal => "!=",
        })
    }
}
