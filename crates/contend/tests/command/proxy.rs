//! `contend proxy` as a user calls it.

use super::Bench;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};

#[test]
fn it_relays_until_ctrl_c_and_tells_what_it_did() {
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = target.local_addr().unwrap().to_string();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("contend"))
        .args(["proxy", "--listen", ":0", "--to", &to, "--cc", "reno", "--mss", "1000B", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    let at = said.split_whitespace().nth(2).unwrap();
    let mut client = TcpStream::connect(at).unwrap();
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let (mut served, _) = target.accept().unwrap();
    let mut got = String::new();
    served.read_to_string(&mut got).unwrap();
    served.write_all(b"answer").unwrap();
    drop(served);
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_eq!((got.as_str(), answer.as_str()), ("question", "answer"));
    super::signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let o: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(o["schema"], "contend/proxy/1");
    assert_eq!((&o["connections"]["accepted"], &o["connections"]["closed"]), (&1.into(), &1.into()));
    assert_eq!((&o["to_target"]["bytes"], &o["to_clients"]["bytes"]), (&8.into(), &6.into()));
}

#[test]
fn wrong_calls_name_the_remedy() {
    let bench = Bench::new();
    let call = |more: &[&str]| {
        let mut args = vec!["proxy", "--duration", "1s"];
        args.extend(more);
        bench.contend(&args).with(2)
    };
    call(&["--listen", "0.0.0.0:0", "--to", "127.0.0.1:9"]).says(&["other machines reach", "--allow 192.168.1.0/24"]);
    call(&["--listen", ":0", "--to", "127.0.0.1"]).says(&["`127.0.0.1` is not a host with a port", "10.0.0.2:80"]);
    call(&["--listen", "here", "--to", "127.0.0.1:9"]).says(&["`here` is not an address", ":8080"]);
    call(&["--listen", ":0", "--to", "127.0.0.1:9", "--cc", "nosuch"]).says(&["no congestion control `nosuch`"]);
    call(&["--listen", ":0", "--to", "127.0.0.1:9", "--rate", "10"]).says(&["has no unit"]);
    call(&["--listen", ":0", "--to", "127.0.0.1:9", "--buffer", "0B"]).says(&["write 1 B or more"]);
    call(&["--listen", ":0", "--to", "127.0.0.1:9", "--allow", "home"]).says(&["`home` is not a network"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let other = TcpListener::bind(&taken).unwrap();
    call(&["--listen", &taken, "--to", "127.0.0.1:9"]).says(&["no listening on", "another program has this port"]);
    drop(other);
}
