//! The golden line of an outcome: hashes over every number and key of its JSON, without prose.

use super::golden::fnv;
use contend_lab::experiment::results::Outcome;
use serde_json::Value;

/// Keys of the outcome that are not hashed: prose, and what changes from call to call.
const NOT_OF_THE_OUTCOME: [&str; 6] = ["schema", "version", "title", "file", "keys", "labels"];
/// Keys of a run that are not hashed with the rest: the clock on the wall, and what has a hash of its own.
const NOT_OF_THE_RUN: [&str; 5] = ["wall", "digest", "flows", "queues", "air"];
/// Keys of a claim that are not hashed: prose.
const NOT_OF_A_CLAIM: [&str; 3] = ["paper", "expected", "reason"];

/// The digests of all runs, and the hashes of their flows, of their queues, of their air, and of everything else, as
/// one text. A single digest is given itself, several as their hash.
pub(crate) fn line(o: &Outcome) -> String {
    let mut outcome = serde_json::to_value(o).unwrap();
    remove(&mut outcome, &NOT_OF_THE_OUTCOME);
    let mut parts = [String::new(), String::new(), String::new()];
    for run in outcome["runs"].as_array_mut().unwrap() {
        for (part, key) in parts.iter_mut().zip(["flows", "queues", "air"]) {
            write(&run[key], part);
            part.push('\n');
        }
        remove(run, &NOT_OF_THE_RUN);
    }
    for claim in outcome["claims"].as_array_mut().unwrap() {
        remove(claim, &NOT_OF_A_CLAIM);
    }
    let mut rest = String::new();
    write(&outcome, &mut rest);
    let digests: Vec<&str> = o.runs.iter().map(|r| r.digest.as_str()).collect();
    let digest = match digests.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("{:016x}", fnv(several.join("\n").as_bytes())),
    };
    // The upper half of a hash is enough to see a change.
    let [flows, queues, air] = parts.map(|p| fnv(p.as_bytes()) >> 32);
    format!("{digest} {flows:08x} {queues:08x} {air:08x} {:08x}", fnv(rest.as_bytes()) >> 32)
}

fn remove(object: &mut Value, keys: &[&str]) {
    let map = object.as_object_mut().unwrap();
    keys.iter().for_each(|key| drop(map.remove(*key)));
}

/// `v` as JSON without spaces, the keys of each object in alphabetical order.
fn write(v: &Value, out: &mut String) {
    match v {
        Value::Array(list) => {
            out.push('[');
            for item in list {
                write(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for key in keys {
                out.push_str(key);
                out.push(':');
                write(&map[key], out);
                out.push(',');
            }
            out.push('}');
        }
        // A number is written so that it can be read back to the last bit.
        plain => out.push_str(&plain.to_string()),
    }
}
