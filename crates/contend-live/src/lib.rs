//! A page on the loopback address on which an experiment runs anew with every change of a value.
//!
//! | module | what |
//! | --- | --- |
//! | `desk` | the runs of the experiment, and its last reports |
//! | `guard` | who may ask: this machine's browser, with the token of the page's address |
//!
//! The page itself is that of [`contend_page`]: dials beside the report that `contend run` would write. Nothing is read
//! from outside this machine, and no file is written.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod desk;
mod guard;

use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use contend_page::parts::{Parts, SERVED};
use contend_page::session::{Session, Settings, told};
use desk::{Answer, Desk};
use guard::Guard;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How often the server looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How long the end waits for runs and for requests in progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most connections at a time that [`serve`] needs, if the system has file descriptors for so many.
pub const CONNECTIONS: usize = 2000;
/// A request has its whole head within this time; so an idle connection ends.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// A request has its body within this time.
const BODY_WITHIN: Duration = Duration::from_secs(5);
/// Longest body of a request, in bytes.
const LONGEST_BODY: usize = 1 << 20;

/// Serves the page of `session` on `port` of the loopback address until `stop` is set; 0 is any free port. `jobs` runs
/// are made at the same time; 0 for one on each core. At most `most` connections are open at a time; further ones wait.
/// `ready` gets the page's address, which contains its token.
///
/// # Errors
/// When the port is taken, or the system refuses.
pub fn serve(
    session: Session,
    jobs: usize,
    port: u16,
    most: usize,
    stop: &AtomicBool,
    ready: impl FnOnce(&str),
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let guard = Arc::new(Guard::new(listener.local_addr()?.port())?);
        ready(&guard.address());
        let desk = Arc::new(Desk::new(session, jobs));
        let router = Router::new()
            .route("/", get(first))
            .route("/run", post(run))
            .route("/dial", post(dial))
            .route("/file", post(file))
            .route("/stop", post(stop_runs))
            .route("/pin/{number}", post(pin))
            .route("/compare/{pinned}/{now}", get(compare))
            .route("/progress", get(progress))
            .route("/report/{number}", get(report))
            .with_state(Arc::clone(&desk))
            .layer(middleware::from_fn(whole))
            .layer(middleware::from_fn_with_state(guard, guard::check));
        tokio::select! {
            () = answer(listener, router, most) => {}
            () = until(stop) => desk.stop(),
        }
        Ok(())
    });
    // A thread that builds a large network looks at no flag.
    runtime.shutdown_timeout(PATIENCE);
    served
}

/// Answers requests, on at most `most` connections at a time. axum's own server has neither this bound nor a time limit
/// for heads, so whoever can connect could keep the owner out.
async fn answer(listener: TcpListener, router: Router, most: usize) {
    let room = Arc::new(Semaphore::new(most));
    // The semaphore is never closed.
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        let Ok((socket, _)) = listener.accept().await else {
            // Descriptors may have run out.
            tokio::time::sleep(LOOK).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
        let connection = http.serve_connection(TokioIo::new(socket), service);
        tokio::spawn(async move {
            let _ = connection.await;
            drop(place);
        });
    }
}

/// Reads the body of a request, within a time limit, before its handler is called.
async fn whole(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(BODY_WITHIN, to_bytes(body, LONGEST_BODY)).await {
        Ok(Ok(body)) => next.run(Request::from_parts(head, Body::from(body))).await,
        Ok(Err(_)) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")]).into_response(),
    }
}

async fn until(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK).await;
    }
}

/// What `job` makes of the desk, on another thread: a large network takes seconds, and this thread answers all
/// requests.
async fn aside(desk: Arc<Desk>, job: impl FnOnce(&Desk) -> Response + Send + 'static) -> Response {
    tokio::task::spawn_blocking(move || job(&desk)).await.unwrap_or_else(|_| {
        let text = "this is a defect of contend, not an error in your file; the terminal shows more";
        (StatusCode::INTERNAL_SERVER_ERROR, Json(Answer::Wrong(text.into()))).into_response()
    })
}

/// The answer to wrong settings.
fn wrong(told: String) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, Json(Answer::Wrong(told))).into_response()
}

async fn first(State(desk): State<Arc<Desk>>) -> Response {
    aside(desk, page_of).await
}

fn page_of(desk: &Desk) -> Response {
    let data = desk.session.first().map_err(|why| told(&why));
    let policy = ["", "", "; connect-src 'self'; frame-src 'self'"];
    let page = Parts { host: SERVED, data: &data, elements: "", policy }.page();
    // An element of the page cannot say who may frame it.
    let policy = format!("{}; frame-ancestors 'none'", page.policy);
    let mut answer = Html(page.text).into_response();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// Runs with these settings; a later request ends the runs of an earlier one.
async fn run(State(desk): State<Arc<Desk>>, Json(settings): Json<Settings>) -> Response {
    aside(desk, move |desk| match desk.run(&settings) {
        Answer::Wrong(told) => wrong(told),
        answer => Json(answer).into_response(),
    })
    .await
}

/// A key that the page asks for, with its settings so far.
#[derive(Deserialize)]
struct Asked {
    key: String,
    settings: Settings,
}

async fn dial(State(desk): State<Arc<Desk>>, Json(asked): Json<Asked>) -> Response {
    aside(desk, move |desk| match desk.session.dial(&asked.key, &asked.settings) {
        Ok(dial) => Json(dial).into_response(),
        Err(why) => wrong(told(&why)),
    })
    .await
}

/// The experiment file with these settings.
async fn file(State(desk): State<Arc<Desk>>, Json(settings): Json<Settings>) -> Response {
    aside(desk, move |desk| match desk.session.file(&settings) {
        Ok(text) => text.into_response(),
        Err(why) => wrong(told(&why)),
    })
    .await
}

async fn progress(State(desk): State<Arc<Desk>>) -> Json<desk::Progress> {
    Json(desk.progress())
}

/// Ends the runs in progress.
async fn stop_runs(State(desk): State<Arc<Desk>>) -> StatusCode {
    desk.stop();
    StatusCode::NO_CONTENT
}

async fn pin(State(desk): State<Arc<Desk>>, Path(number): Path<u64>) -> Response {
    if desk.pin(number) {
        StatusCode::NO_CONTENT.into_response()
    } else {
        wrong("this report is not kept any more; change a value to get a new one".into())
    }
}

async fn compare(State(desk): State<Arc<Desk>>, Path((pinned, now)): Path<(u64, u64)>) -> Response {
    aside(desk, move |desk| match desk.compare(pinned, now) {
        Ok(compared) => Json(compared).into_response(),
        Err(why) => wrong(told(&why)),
    })
    .await
}

async fn report(State(desk): State<Arc<Desk>>, Path(number): Path<u64>, _: HeaderMap) -> Response {
    match desk.report(number) {
        Some(page) => Html(page).into_response(),
        None => {
            (StatusCode::NOT_FOUND, "this report is not kept any more; change a value to get a new one").into_response()
        }
    }
}
