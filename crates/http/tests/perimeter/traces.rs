//! Spans that reach a collector.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use bailiwick_http::otlp::otlp_layer;
use bailiwick_http::{Serving, bind, serve};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::server::{GOOD, PATIENCE, Running, settings};

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_a_span_that_reaches_the_collector_without_its_key() {
    let taken: Arc<Mutex<Vec<u8>>> = Arc::default();
    let keeps = Arc::clone(&taken);
    let collector = Router::new().route(
        "/v1/traces",
        post(move |body: Bytes| async move {
            keeps.lock().unwrap().extend_from_slice(&body);
        }),
    );
    let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, collector, Serving::of(&settings()), std::future::pending()));
    let (layer, traces) = otlp_layer(&format!("http://{address}")).unwrap();
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();
    let server = Running::plain();
    let answer = server.ask("GET", "/who?asked=for", &[&format!("x-api-key: {GOOD}")]).await;
    assert_eq!(answer.status, 200);
    server.end().await;
    let closed = tokio::task::spawn_blocking(move || traces.close());
    tokio::time::timeout(PATIENCE, closed).await.unwrap().unwrap().unwrap();
    let taken = String::from_utf8_lossy(&taken.lock().unwrap()).into_owned();
    for there in ["bailiwick", "request", "/who", "route", "status"] {
        assert!(taken.contains(there), "{there} is not in {taken:?}");
    }
    for not_there in ["secret-part", "asked=for"] {
        assert!(!taken.contains(not_there), "{not_there} is in {taken:?}");
    }
}

#[tokio::test]
async fn what_is_no_address_of_a_collector_is_refused() {
    for wrong in ["", "collector", "https://127.0.0.1:4318", "http://", "ftp://127.0.0.1"] {
        let made = otlp_layer::<tracing_subscriber::Registry>(wrong);
        assert!(made.is_err(), "{wrong}");
    }
}
