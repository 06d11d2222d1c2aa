//! A page on the loopback address on which an experiment runs anew with every change of a value.
//!
//! | module | what |
//! | --- | --- |
//! | [`session`] | the experiment: its dials, its runs, its last reports |
//! | `guard` | who may ask: this machine's browser, with the token of the page's address |
//! | `page` | the page, in one file with its style and its script |
//!
//! The page shows dials beside the report that `contend run` would write. Nothing is read from outside this machine,
//! and no file is written.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod guard;
mod page;
pub mod session;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use guard::Guard;
use serde::Deserialize;
use session::{Answer, Session, Settings, told};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the server looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Serves the page of `session` on `port` of the loopback address until `stop` is set; 0 is any free port. `ready` gets
/// the page's address, which contains its token.
///
/// # Errors
/// When the port is taken, or the system refuses.
pub fn serve(session: Session, port: u16, stop: &AtomicBool, ready: impl FnOnce(&str)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let guard = Arc::new(Guard::new(listener.local_addr()?.port())?);
        ready(&guard.address());
        let session = Arc::new(session);
        let router = Router::new()
            .route("/", get(first))
            .route("/run", post(run))
            .route("/dial", post(dial))
            .route("/file", post(file))
            .route("/progress", get(progress))
            .route("/report/{number}", get(report))
            .with_state(Arc::clone(&session))
            .layer(middleware::from_fn_with_state(guard, guard::check));
        let server = axum::serve(listener, router).into_future();
        tokio::select! {
            ended = server => ended,
            () = until(stop) => {
                session.stop();
                Ok(())
            }
        }
    })
}

async fn until(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK).await;
    }
}

async fn first(State(session): State<Arc<Session>>) -> Response {
    let page = page::Page::of(&session);
    let mut answer = Html(page.text).into_response();
    if let Ok(policy) = HeaderValue::from_str(&page.policy) {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// Runs with these settings; a later request ends the runs of an earlier one.
async fn run(State(session): State<Arc<Session>>, Json(settings): Json<Settings>) -> Response {
    let job = move || session.run(&settings);
    match tokio::task::spawn_blocking(job).await {
        Ok(Answer::Wrong(wrong)) => (StatusCode::UNPROCESSABLE_ENTITY, Json(Answer::Wrong(wrong))).into_response(),
        Ok(answer) => Json(answer).into_response(),
        Err(_) => {
            let text = "this is a defect of contend, not an error in your file; the terminal shows more";
            (StatusCode::INTERNAL_SERVER_ERROR, Json(Answer::Wrong(text.into()))).into_response()
        }
    }
}

/// A key that the page asks for, with its settings so far.
#[derive(Deserialize)]
struct Asked {
    key: String,
    settings: Settings,
}

async fn dial(State(session): State<Arc<Session>>, Json(asked): Json<Asked>) -> Response {
    match session.dial(&asked.key, &asked.settings) {
        Ok(dial) => Json(dial).into_response(),
        Err(why) => (StatusCode::UNPROCESSABLE_ENTITY, Json(Answer::Wrong(told(&why)))).into_response(),
    }
}

/// The experiment file with these settings.
async fn file(State(session): State<Arc<Session>>, Json(settings): Json<Settings>) -> Response {
    match session.file(&settings) {
        Ok(text) => text.into_response(),
        Err(why) => (StatusCode::UNPROCESSABLE_ENTITY, Json(Answer::Wrong(told(&why)))).into_response(),
    }
}

async fn progress(State(session): State<Arc<Session>>) -> Json<session::Progress> {
    Json(session.progress())
}

async fn report(State(session): State<Arc<Session>>, Path(number): Path<u64>, _: HeaderMap) -> Response {
    match session.report(number) {
        Some(page) => Html(page).into_response(),
        None => {
            (StatusCode::NOT_FOUND, "this report is not kept any more; change a value to get a new one").into_response()
        }
    }
}
