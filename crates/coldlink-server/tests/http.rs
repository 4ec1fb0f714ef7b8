//! The whole service on a small model, as programs ask it.

mod common;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use coldlink::dataset::Dataset;
use coldlink::graph::Names;
use coldlink::index::LinkIndex;
use coldlink::model::Model;
use coldlink::synthetic::{World, readable_tables};
use coldlink_server::{Limits, Options, Server, Token, app};
use common::{Service, fit, load_csv, train};
use serde_json::{Value, json};
use tower::ServiceExt;

/// Services are small; one for each test keeps them apart.
fn service() -> Service {
    Service::new(Options::default())
}

fn soup() -> Value {
    json!({"id": "fresh", "words": ["soup", "salt"], "pages": 1})
}

#[tokio::test]
async fn links_of_new_nodes_are_of_their_topic() {
    let service = service();
    let star = json!({"id": "other", "words": "star|moon"});
    let answer = service.post("/v1/links", json!({"nodes": [soup(), star], "k": 5})).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let answer = answer.json();
    assert_eq!(answer["notes"], json!([]));
    assert!(answer.get("map").is_none());
    let links = answer["links"].as_array().unwrap();
    assert_eq!(links.len(), 10);
    for (place, link) in links.iter().enumerate() {
        let (source, topic) = [("fresh", 1), ("other", 2)][place / 5];
        let paper: usize = link["target"].as_str().unwrap()[1..].parse().unwrap();
        assert_eq!((&link["source"], &link["rank"]), (&json!(source), &json!(place % 5 + 1)));
        assert_eq!((paper % 3, &link["known"]), (topic, &json!(true)));
        let keys: Vec<&str> = link.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["known", "probability", "rank", "score", "source", "target"]);
        assert!(link["probability"].as_f64().is_some_and(|p| p > 0.0 && p < 1.0));
    }
}

#[tokio::test]
async fn a_score_is_the_sum_of_its_reasons() {
    let service = service();
    let answer =
        service.post("/v1/links", json!({"nodes": [soup()], "k": 3, "explain": true, "map": true})).await.json();
    let map = &answer["map"][0];
    assert_eq!((&map["source"], map["place"].as_array().unwrap().len()), (&json!("fresh"), 2));
    assert!(map["between"].is_array());
    for link in answer["links"].as_array().unwrap() {
        let explanation = &link["explanation"];
        assert_eq!(explanation["most_similar"].as_array().unwrap().len(), 5);
        let parts = explanation["attributes"].as_array().unwrap().iter().map(|part| part["adds"].as_f64().unwrap());
        let others = ["other_attributes", "similar_nodes", "popularity", "baseline"];
        let others = others.map(|part| explanation[part].as_f64().unwrap());
        let sum: f64 = parts.sum::<f64>() + others.iter().sum::<f64>();
        assert!((sum - link["score"].as_f64().unwrap()).abs() < 1e-3, "{link}");
        let probability = link["probability"].as_f64().unwrap();
        let shown = sum + explanation["base_rate"].as_f64().unwrap();
        assert!((shown - (probability / (1.0 - probability)).ln()).abs() < 1e-3, "{link}");
    }
}

#[tokio::test]
async fn pairs_are_explained_and_titles_shown_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let [nodes, edges] = readable_tables(300, ("pages", |paper| 10 * (paper % 17)));
    let titled = nodes.lines().enumerate().map(|(row, line)| match row {
        0 => format!("{line},title\n"),
        _ => format!("{line},The title {row}\n"),
    });
    let titled: String = titled.collect();
    fit(&load_csv(folder.path(), &titled, &edges), 1).save(&folder.path().join("model")).unwrap();
    let service = Service::of(folder, Options::default());
    let node = json!({"id": "fresh", "words": ["soup"], "title": "Fresh soup"});
    let pairs = json!([{"source": "fresh", "target": "p1"}, {"source": "p2", "target": "p4"}]);
    let ask = json!({"nodes": [node], "pairs": pairs, "explain": true, "show": true});
    let links = service.post("/v1/score", &ask).await.json()["links"].clone();
    assert_eq!((&links[0]["source_title"], &links[0]["target_title"]), (&json!("Fresh soup"), &json!("The title 2")));
    assert!(links[0]["explanation"].is_object() && links[1].get("explanation").is_none(), "{links}");
    let plain = service.post("/v1/links", json!({"nodes": [node], "k": 1})).await.json();
    assert!(plain["links"][0].get("target_title").is_none());
    let shown = service.post("/v1/links", json!({"nodes": [node], "k": 1, "show": true})).await.json();
    assert!(shown["links"][0]["target_title"].as_str().unwrap().starts_with("The title "));
}

#[tokio::test]
async fn links_are_looked_for_where_it_is_asked() {
    let service = service();
    let nodes = json!([soup(), {"id": "second", "words": ["soup"]}]);
    let ask = |more: Value| {
        let mut request = json!({"nodes": nodes, "k": 3});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        service.post("/v1/links", request)
    };
    let new = ask(json!({"among": "new"})).await.json();
    assert_eq!((&new["links"][0]["target"], &new["links"][0]["known"]), (&json!("second"), &json!(false)));
    let explored = ask(json!({"among": "both", "explore": 0.3})).await.json();
    let found: Vec<&Value> =
        explored["links"].as_array().unwrap().iter().filter(|link| link["known"] == false).collect();
    assert_eq!(found.len(), 2, "each of the two finds the other: {explored}");
    let usual = ask(json!({})).await.json();
    let best = usual["links"][0]["target"].clone();
    let without = ask(json!({"exclude": [best, "nobody"]})).await.json();
    assert_ne!(without["links"][0]["target"], best);
    assert_eq!(without["notes"], json!(["1 excluded name belongs to no node"]));
}

#[tokio::test]
async fn pairs_score_as_the_ranking_does() {
    let service = service();
    let found = service.post("/v1/links", json!({"nodes": [soup()], "k": 1})).await.json();
    let mut link = found["links"][0].clone();
    let pairs = json!([
        {"source": "fresh", "target": link["target"]},
        {"source": "fresh", "target": "fresh", "known": false},
        {"source": "p1", "target": "p2"},
    ]);
    let scored = service.post("/v1/score", json!({"nodes": [soup()], "pairs": pairs})).await.json();
    let scored = scored["links"].as_array().unwrap();
    assert!((scored[0]["score"].as_f64().unwrap() - link["score"].as_f64().unwrap()).abs() < 1e-4);
    for number in ["score", "probability"] {
        link[number] = scored[0][number].clone();
    }
    link.as_object_mut().unwrap().remove("rank");
    assert_eq!(scored[0], link, "the same item without its rank");
    assert_eq!((&scored[1]["target"], &scored[1]["known"]), (&json!("fresh"), &json!(false)));
    assert_eq!((&scored[2]["source"], &scored[2]["target"]), (&json!("p1"), &json!("p2")));
    for unknown in [
        json!({"source": "fresh", "target": "nobody"}),
        json!({"source": "nobody", "target": "p1"}),
        json!({"source": "fresh", "target": "p1", "known": false}),
        json!({"source": "fresh", "target": "fresh", "known": true}),
    ] {
        let answer = service.post("/v1/score", json!({"nodes": [soup()], "pairs": [pairs[0], unknown]})).await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::NOT_FOUND, "unknown_node"));
        assert!(answer.text.contains("pair 2"), "{}", answer.text);
    }
}

#[tokio::test]
async fn known_nodes_and_new_ones_with_links_are_asked_about() {
    let service = service();
    let answer = service.post("/v1/links", json!({"known": ["p1", "p2"], "k": 300, "explain": false})).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let links = answer.json()["links"].as_array().unwrap().clone();
    assert!(links.iter().all(|link| link["source"] != link["target"] && link["known"] == true));
    let given = json!([{"source": "fresh", "target": "p1"}, {"source": "p4", "target": "fresh"}]);
    let request = json!({"nodes": [soup()], "links": given, "k": 300});
    let found = service.post("/v1/links", request).await.json()["links"].as_array().unwrap().clone();
    assert!(found.len() > 2 && found.iter().all(|link| link["target"] != "p1" && link["target"] != "p4"));
    let pairs = json!([{"source": "fresh", "target": found[0]["target"]}]);
    let scored = service.post("/v1/score", json!({"nodes": [soup()], "links": given, "pairs": pairs})).await.json();
    assert!((scored["links"][0]["score"].as_f64().unwrap() - found[0]["score"].as_f64().unwrap()).abs() < 1e-4);
    for (request, status, code) in [
        (json!({"known": ["p1", "nobody"]}), StatusCode::NOT_FOUND, "unknown_node"),
        (json!({"known": ["p1"], "nodes": [soup()]}), StatusCode::BAD_REQUEST, "bad_value"),
        (json!({"known": ["p1"], "among": "both"}), StatusCode::BAD_REQUEST, "bad_value"),
        (json!({"k": 3}), StatusCode::BAD_REQUEST, "bad_value"),
        (json!({"nodes": [soup()], "links": [{"source": "p1", "target": "p2"}]}), StatusCode::BAD_REQUEST, "bad_value"),
        (
            json!({"nodes": [soup()], "links": [{"source": "fresh", "target": "nobody"}]}),
            StatusCode::NOT_FOUND,
            "unknown_node",
        ),
        (
            json!({"nodes": [soup()], "links": [{"source": "fresh", "target": "p1", "relation": "likes"}]}),
            StatusCode::NOT_FOUND,
            "unknown_value",
        ),
    ] {
        let answer = service.post("/v1/links", request.clone()).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{request} {}", answer.text);
    }
}

#[tokio::test]
async fn a_base_rate_means_the_same_for_links_and_for_pairs() {
    let service = service();
    let pairs = json!([{"source": "fresh", "target": "p1"}]);
    let links = |rate: &Value| service.post("/v1/links", json!({"nodes": [soup()], "k": 300, "base_rate": rate}));
    let score = |rate: &Value| service.post("/v1/score", json!({"nodes": [soup()], "pairs": pairs, "base_rate": rate}));
    for good in [json!(1e-12), json!(0.3), json!(0.999_999), Value::Null] {
        let (links, score) = (links(&good).await.json(), score(&good).await.json());
        let found = links["links"].as_array().unwrap().iter().find(|link| link["target"] == "p1").unwrap();
        let [found, scored] = [found, &score["links"][0]].map(|link| link["probability"].as_f64().unwrap());
        assert!((found / scored - 1.0).abs() < 1e-3, "{good}: {found} and {scored}");
    }
    for bad in [json!(0), json!(1e-13), json!(1), json!(-0.1), json!(0.999_999_9), json!("0.1"), json!([0.1])] {
        for answer in [links(&bad).await, score(&bad).await] {
            assert_eq!((answer.status.as_u16(), answer.code().as_str()), (400, "bad_value"), "{bad}: {}", answer.text);
        }
    }
    let document = service.get("/openapi.json").await.json();
    for request in ["LinksRequest", "ScoreRequest"] {
        let base_rate = &document["components"]["schemas"][request]["properties"]["base_rate"];
        assert_eq!((&base_rate["minimum"], &base_rate["maximum"]), (&json!(1e-12), &json!(0.999_999)));
    }
}

#[tokio::test]
async fn vectors_have_the_width_of_the_model() {
    let answer = service().post("/v1/embed", json!({"nodes": [soup(), {}]})).await.json();
    assert_eq!((&answer["width"], &answer["embeddings"][1]["node"]), (&json!(16), &json!("new 2")));
    assert_eq!(answer["embeddings"][0]["embedding"].as_array().unwrap().len(), 16);
}

#[tokio::test]
async fn nodes_are_found_by_name_and_by_its_beginning() {
    let service = service();
    let found = service.get("/v1/nodes?prefix=p29&limit=3").await.json();
    let names: Vec<_> = found["nodes"].as_array().unwrap().iter().map(|node| node["name"].clone()).collect();
    assert_eq!(names, ["p29", "p290", "p291"]);
    let node = service.get("/v1/nodes/p29").await.json();
    assert_eq!((&node["name"], &node["links"], &node["warm"]), (&json!("p29"), &json!(6), &json!(true)));
    assert!(node["neighbors"].as_array().unwrap().contains(&json!("p32")));
    assert_eq!(node["most_similar"].as_array().unwrap().len(), 10);
    let nobody = service.get("/v1/nodes/no%2Fbody").await;
    assert_eq!((nobody.status, nobody.code().as_str()), (StatusCode::NOT_FOUND, "unknown_node"));
    assert!(nobody.text.contains("no/body"));
    assert_eq!(service.get("/v1/nodes?limit=x").await.code(), "bad_path");
    assert_eq!(service.get("/v1/nodes/%ff").await.code(), "bad_path");
}

#[tokio::test]
async fn added_nodes_are_found_and_stay() {
    let service = service();
    let added = service.post("/v1/nodes", json!({"nodes": [soup()]})).await;
    assert_eq!(added.status, StatusCode::CREATED, "{}", added.text);
    assert_eq!(added.json(), json!({"added": ["fresh"], "nodes": 301, "notes": []}));
    let fresh = service.get("/v1/nodes/fresh").await.json();
    assert_eq!((&fresh["links"], &fresh["warm"]), (&json!(0), &json!(false)));
    let twin = json!({"nodes": [{"id": "twin", "words": ["soup", "salt"], "pages": 1}], "k": 301});
    assert!(service.post("/v1/links", twin).await.text.contains("\"fresh\""));
    let again = service.post("/v1/nodes", json!({"nodes": [soup()]})).await;
    assert_eq!((again.status, again.code().as_str()), (StatusCode::CONFLICT, "known_node"));
    let twice = service.post("/v1/embed", json!({"nodes": [soup(), soup()]})).await;
    assert_eq!((twice.status, twice.code().as_str()), (StatusCode::CONFLICT, "known_node"));
    let nameless = service.post("/v1/nodes", json!({"nodes": [{"words": "soup"}]})).await;
    assert_eq!(nameless.code(), "bad_value");
    let Service { folder, .. } = service;
    let reopened = Service::of(folder, Options { read_only: true, ..Options::default() });
    assert_eq!(reopened.get("/v1/nodes/fresh").await.status, StatusCode::OK);
    let refused = reopened.post("/v1/nodes", json!({"nodes": [{"id": "x"}]})).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "read_only"));
}

#[tokio::test]
async fn nodes_added_at_once_are_all_there() {
    let service = Arc::new(service());
    let adding = (0..8).map(|number| {
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            service.post("/v1/nodes", json!({"nodes": [{"id": format!("new{number}")}]})).await.status
        })
    });
    for added in adding.collect::<Vec<_>>() {
        assert_eq!(added.await.unwrap(), StatusCode::CREATED);
    }
    assert_eq!(service.get("/v1/model").await.json()["summary"]["nodes"], 308);
}

/// A request to add nodes, with a key that tells a repetition.
fn add_with_key(key: &str, body: Value) -> Request<Body> {
    let request = Request::post("/v1/nodes").header(header::CONTENT_TYPE, "application/json");
    request.header("Idempotency-Key", key).body(Body::from(body.to_string())).unwrap()
}

#[tokio::test]
async fn nothing_is_added_beside_a_file_that_cannot_be_opened() {
    let service = service();
    let broken = service.path().with_extension("broken");
    fs::write(&broken, b"no model").unwrap();
    fs::rename(&broken, service.path()).unwrap();
    let refused = service.post("/v1/nodes", json!({"nodes": [soup()]})).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "other_model"));
    assert_eq!(fs::read(service.path()).unwrap(), b"no model");
    assert_eq!(service.get("/v1/nodes/fresh").await.status, StatusCode::NOT_FOUND);
    fs::remove_file(service.path()).unwrap();
    assert_eq!(service.post("/v1/nodes", json!({"nodes": [soup()]})).await.code(), "other_model");
    assert!(!service.path().exists());
    assert_eq!(service.post("/v1/links", json!({"nodes": [soup()]})).await.status, StatusCode::OK, "the old one stays");
}

#[tokio::test]
async fn nodes_join_a_newer_file_that_was_moved_over_the_served_one() {
    let service = service();
    let newer = service.path().with_extension("newer");
    train(service.folder.path(), 2).save(&newer).unwrap();
    let other = json!({"nodes": [{"id": "theirs", "words": "oven"}]});
    let theirs = Server::open(&newer, Options::default()).unwrap();
    let request = Request::post("/v1/nodes").header(header::CONTENT_TYPE, "application/json");
    let request = request.body(Body::from(other.to_string())).unwrap();
    assert_eq!(app(theirs).oneshot(request).await.unwrap().status(), StatusCode::CREATED);
    fs::rename(&newer, service.path()).unwrap();
    let added = service.post("/v1/nodes", json!({"nodes": [soup()]})).await;
    assert_eq!((added.status, &added.json()["nodes"]), (StatusCode::CREATED, &json!(302)), "{}", added.text);
    let file = Model::open(&service.path()).unwrap();
    assert!(file.find("theirs").is_some() && file.find("fresh").is_some());
}

#[tokio::test]
async fn an_add_that_is_answered_503_is_not_applied() {
    let service = service();
    let before = fs::read(service.path()).unwrap();
    let Service { folder, .. } = service;
    let limits = Limits { seconds: 0.3, ..Limits::default() };
    let service = Service::of(folder, Options { limits, ..Options::default() });
    let held = coldlink::storage::Lock::of(&service.path()).unwrap();
    let refused = service.post("/v1/nodes", json!({"nodes": [soup()]})).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "too_slow"));
    drop(held);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(fs::read(service.path()).unwrap(), before, "nothing is done after the answer");
    assert_eq!(service.get("/v1/nodes/fresh").await.status, StatusCode::NOT_FOUND);
    assert_eq!(service.post("/v1/nodes", json!({"nodes": [soup()]})).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn an_add_whose_client_has_gone_is_done_and_remembered() {
    let service = Arc::new(service());
    let held = coldlink::storage::Lock::of(&service.path()).unwrap();
    let body = || json!({"nodes": [soup()]});
    let going = {
        let service = Arc::clone(&service);
        tokio::spawn(async move { service.send(add_with_key("gone", body())).await.status })
    };
    tokio::time::sleep(Duration::from_millis(200)).await;
    going.abort();
    drop(held);
    let again = service.send(add_with_key("gone", body())).await;
    assert_eq!(
        (again.status, again.json()),
        (StatusCode::CREATED, json!({"added": ["fresh"], "nodes": 301, "notes": []}))
    );
}

#[tokio::test]
async fn a_repeated_key_gets_the_first_answer_and_adds_nothing() {
    let service = service();
    let first = service.send(add_with_key("one", json!({"nodes": [soup()]}))).await;
    assert_eq!(first.status, StatusCode::CREATED, "{}", first.text);
    service.post("/v1/nodes", json!({"nodes": [{"id": "another"}]})).await;
    let again = service.send(add_with_key("one", json!({"nodes": [soup()]}))).await;
    assert_eq!((again.status, again.text), (first.status, first.text));
    let reused = service.send(add_with_key("one", json!({"nodes": [{"id": "third"}]}))).await;
    assert_eq!((reused.status, reused.code().as_str()), (StatusCode::CONFLICT, "key_reused"));
    let refused = service.send(add_with_key("two", json!({"nodes": [soup()]}))).await;
    assert_eq!(refused.code(), "known_node");
    assert_eq!(service.send(add_with_key("", json!({"nodes": [{"id": "x"}]}))).await.code(), "bad_value");
    assert_eq!(service.get("/v1/model").await.json()["summary"]["nodes"], 302);
}

#[tokio::test]
async fn a_page_of_another_site_learns_and_changes_nothing() {
    let service = service();
    let ask = |path: &str, site: &str, dest: &str| {
        let request = Request::get(path).header("Sec-Fetch-Site", site).header("Sec-Fetch-Dest", dest);
        service.send(request.body(Body::empty()).unwrap())
    };
    for path in
        ["/v1/nodes/p1", "/v1/nodes/nobody", "/healthz", "/metrics", "/openapi.json", "/page/page.js", "/nowhere"]
    {
        for (site, dest) in [("cross-site", "script"), ("same-site", "empty"), ("cross-site", "document")] {
            let refused = ask(path, site, dest).await;
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (StatusCode::FORBIDDEN, "other_site"),
                "{path} {site}"
            );
        }
        assert_ne!(ask(path, "same-origin", "empty").await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(ask("/", "cross-site", "document").await.status, StatusCode::OK, "a link to the page may be followed");
    let add = Request::post("/v1/nodes").header(header::CONTENT_TYPE, "application/json");
    let add = add.header("Sec-Fetch-Site", "cross-site").body(Body::from(json!({"nodes": [soup()]}).to_string()));
    assert_eq!(service.send(add.unwrap()).await.code(), "other_site");
    assert_eq!(service.get("/v1/model").await.json()["summary"]["nodes"], 300);
}

#[tokio::test]
async fn nodes_of_any_name_can_be_looked_at() {
    let service = service();
    let names = [".", "..", "__proto__", "a/b", "%2e", "a?b#c", "+", "\u{1F980} é"];
    let nodes: Vec<Value> = names.iter().map(|name| json!({"id": name, "words": "soup"})).collect();
    let added = service.post("/v1/nodes", json!({"nodes": nodes})).await;
    assert_eq!((added.status, &added.json()["added"]), (StatusCode::CREATED, &json!(names)), "{}", added.text);
    for name in names {
        let escaped: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for path in [format!("/v1/node?name={escaped}"), format!("/v1/nodes/{escaped}")] {
            assert_eq!(service.get(&path).await.json()["name"], name, "{path}");
        }
        let pairs = json!([{"source": "new", "target": name}]);
        let scored =
            service.post("/v1/score", json!({"nodes": [{"id": "new", "words": "soup"}], "pairs": pairs})).await;
        assert_eq!(scored.json()["links"][0]["target"], name);
    }
    let nobody = service.get("/v1/node?name=nobody").await;
    assert_eq!((nobody.status, nobody.code().as_str()), (StatusCode::NOT_FOUND, "unknown_node"));
    assert_eq!(service.get("/v1/node").await.code(), "bad_path");
}

#[tokio::test]
async fn the_model_describes_a_form_and_an_example_that_works() {
    let service = service();
    let model = service.get("/v1/model").await.json();
    assert_eq!((&model["id"], &model["summary"]["nodes"]), (&json!("id"), &json!(300)));
    let columns = model["columns"].as_array().unwrap();
    assert_eq!((&columns[0]["name"], &columns[0]["takes"]), (&json!("words"), &json!("words")));
    assert_eq!(columns[0]["values"].as_array().unwrap().len(), 12);
    assert_eq!((&columns[1]["name"], &columns[1]["takes"]), (&json!("pages"), &json!("number")));
    let answer = service.post("/v1/links", json!({"nodes": [model["example"]]})).await;
    assert_eq!((answer.status, &answer.json()["notes"]), (StatusCode::OK, &json!([])));
}

#[tokio::test]
async fn the_document_has_the_columns_of_the_model() {
    let service = service();
    let document = service.get("/openapi.json").await.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let node = &document["components"]["schemas"]["Node"]["properties"];
    assert!(node["words"].is_object() && node["pages"]["type"] == json!(["number", "null"]), "{node}");
    for path in [
        "/v1/links",
        "/v1/score",
        "/v1/embed",
        "/v1/nodes",
        "/v1/nodes/{name}",
        "/v1/node",
        "/v1/map",
        "/v1/model",
        "/healthz",
        "/metrics",
    ] {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    for (path, request) in [("/v1/links", "LinksRequest"), ("/v1/score", "ScoreRequest"), ("/v1/embed", "EmbedRequest")]
    {
        let example = &document["components"]["schemas"][request]["examples"][0];
        assert_eq!(service.post(path, example).await.status, StatusCode::OK, "{example}");
    }
    assert_eq!(document["paths"]["/v1/nodes"]["get"]["parameters"][1]["schema"]["maximum"], 1000);
    assert_eq!(document["components"]["schemas"]["LinksRequest"]["properties"]["k"]["maximum"], 1000);
}

#[tokio::test]
async fn the_map_shows_all_nodes_of_a_small_model() {
    let service = service();
    let map = service.get("/v1/map").await.json();
    assert_eq!((map["nodes"].as_u64(), map["points"].as_array().unwrap().len()), (Some(300), 300));
    assert_eq!(service.get("/v1/nodes/p7").await.json()["place"], map["points"][7]["place"]);
}

#[tokio::test]
async fn what_is_wrong_has_a_code_a_message_and_a_hint() {
    let service = service();
    let check = async |body: &str, status: u16, code: &str| {
        let answer = service.post("/v1/links", body).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (status, code), "{body:.100}: {}", answer.text);
        assert!(answer.text.len() < 2_000, "{}", answer.text);
    };
    check("", 400, "bad_json").await;
    check("{", 400, "bad_json").await;
    check("[]", 400, "bad_value").await;
    check("null", 400, "bad_value").await;
    check("\u{feff}{}", 400, "bad_json").await;
    check(&format!("{{\"nodes\": [{{\"words\": {}", "[".repeat(100_000)), 400, "bad_json").await;
    check("{}", 400, "bad_value").await;
    check(r#"{"nodes": []}"#, 400, "bad_value").await;
    check(r#"{"nodes": {}}"#, 400, "bad_value").await;
    check(r#"{"nodes": [7]}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "k": 0}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "k": -1}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "k": 1.5}"#, 400, "bad_value").await;
    assert_eq!(service.post("/v1/links", r#"{"nodes": [{}], "k": 2.0}"#).await.status, StatusCode::OK);
    check(r#"{"nodes": [{}], "k": 1e999}"#, 400, "bad_json").await;
    check(r#"{"nodes": [{}], "k": 1001}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "k": 18446744073709551615}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "explian": true}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "among": "old"}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "among": null}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "popularity": 2}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "popularity": 1.000000000001}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "popularity": -1e-50}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "explore": 1.5}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "explore": -0.1}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "explore": "all"}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{}], "base_rate": 0}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{"id": ["a"]}]}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{"pages": "many"}]}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{"pages": 1e300}]}"#, 400, "bad_value").await;
    check(r#"{"nodes": [{"words": {"a": 1}}]}"#, 400, "bad_value").await;
    check(&json!({"nodes": [{"words": "x".repeat(2_000_000)}]}).to_string(), 413, "too_large").await;
    check(&json!({"nodes": vec![json!({}); 1001]}).to_string(), 400, "bad_value").await;
    check(&json!({"nodes": vec![json!({}); 1000], "k": 11}).to_string(), 413, "too_large").await;
    check(&json!({"nodes": vec![json!({}); 101], "explain": true}).to_string(), 413, "too_large").await;
    check(&json!({"nodes": vec![json!({"pages": "many"}); 1000], "k": 11}).to_string(), 400, "bad_value").await;
}

#[tokio::test]
async fn a_hint_offers_only_what_a_request_can_do() {
    let service = service();
    let no_types = service.post("/v1/links", json!({"nodes": [soup()], "type": "item"})).await;
    assert_eq!((no_types.status, no_types.code().as_str()), (StatusCode::NOT_FOUND, "unknown_value"));
    assert_eq!(no_types.json()["error"]["hint"], "ask without a node type");
    let nested = service.post("/v1/links", json!({"nodes": [{"words": [["soup"]]}]})).await;
    assert_eq!(nested.code(), "bad_value");
    let unknown = service.post("/v1/links", json!({"nodes": [soup()], "where": {"words": "quark"}})).await;
    assert_eq!(unknown.code(), "unknown_value");
}

#[tokio::test]
async fn lists_are_not_taken_for_objects_nor_objects_for_words() {
    let service = service();
    for (path, body) in [
        ("/v1/links", json!([[{}]])),
        ("/v1/embed", json!([[{}]])),
        ("/v1/nodes", json!([[{"id": "new"}]])),
        ("/v1/score", json!([[{"id": "new"}], [{"source": "new", "target": "p1"}]])),
        ("/v1/score", json!({"nodes": [{"id": "new"}], "pairs": [["new", "p1"]]})),
        ("/v1/links", json!({"nodes": [{}], "among": {"known": null}})),
    ] {
        let answer = service.post(path, &body).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (400, "bad_value"), "{body}: {}", answer.text);
    }
    assert_eq!(service.post("/v1/links", "\n [[{}]]").await.code(), "bad_value");
}

#[tokio::test]
async fn a_name_is_blank_for_the_document_where_it_is_for_the_server() {
    let service = service();
    let document = service.get("/openapi.json").await.json();
    let pattern = document["components"]["schemas"]["NamedNode"]["properties"]["id"]["pattern"].as_str().unwrap();
    let blank = pattern.strip_prefix("[^").and_then(|rest| rest.strip_suffix(']')).unwrap();
    for letter in ['\t', ' ', '\u{1c}', '\u{85}', '\u{a0}', '\u{180e}', '\u{2003}', '\u{3000}', '\u{feff}'] {
        let answer = service.post("/v1/nodes", json!({"nodes": [{"id": letter}]})).await;
        let status = if blank.contains(letter) { StatusCode::BAD_REQUEST } else { StatusCode::CREATED };
        assert_eq!(answer.status, status, "{letter:?}: {}", answer.text);
    }
}

#[tokio::test]
async fn numbers_that_are_too_large_are_refused_or_scored_but_never_infinite() {
    let service = service();
    for pages in ["3.4e38", "-3.4e38", "1e-45", "1e30"] {
        let answer =
            service.post("/v1/links", format!(r#"{{"nodes": [{{"pages": {pages}}}], "k": 3, "explain": true}}"#)).await;
        match answer.status {
            StatusCode::OK => assert!(!answer.text.contains("null"), "{}", answer.text),
            _ => assert_eq!(answer.code(), "bad_value", "{}", answer.text),
        }
    }
}

#[tokio::test]
async fn what_is_left_out_is_told() {
    let node = json!({"id": "odd", "words": ["soup", "quark"], "title": "x", "colour": {"deep": [1]}});
    let answer = service().post("/v1/links", json!({"nodes": [node, {}]})).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let answer = answer.json();
    let notes = answer["notes"].to_string();
    assert!(
        notes.contains("1 value")
            && notes.contains("`colour`, `title`")
            && notes.contains("1 new node of which nothing"),
        "{notes}"
    );
}

#[tokio::test]
async fn other_paths_methods_and_kinds_are_refused_in_the_same_shape() {
    let service = service();
    let nothing = service.get("/v2/links").await;
    assert_eq!((nothing.status, nothing.code().as_str()), (StatusCode::NOT_FOUND, "unknown_path"));
    assert_eq!(service.get("/page/secret.js").await.code(), "unknown_path");
    let method = service.get("/v1/links").await;
    assert_eq!((method.status, method.code().as_str()), (StatusCode::METHOD_NOT_ALLOWED, "wrong_method"));
    assert_eq!(method.headers[header::ALLOW], "POST");
    let delete = service.send(Request::delete("/v1/nodes").body(Body::empty()).unwrap()).await;
    assert_eq!((delete.status, delete.code().as_str()), (StatusCode::METHOD_NOT_ALLOWED, "wrong_method"));
    let plain = Request::post("/v1/links").header(header::CONTENT_TYPE, "text/plain").body(Body::from("{}")).unwrap();
    let plain = service.send(plain).await;
    assert_eq!((plain.status, plain.code().as_str()), (StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong_media_type"));
}

#[tokio::test]
async fn a_token_is_asked_for_where_there_is_one() {
    let token = Some(Token::new("0123456789abcdef").unwrap());
    let service = Service::new(Options { token, ..Options::default() });
    let with = |word: &str| {
        let request = Request::get("/v1/model").header(header::AUTHORIZATION, word).body(Body::empty()).unwrap();
        service.send(request)
    };
    assert_eq!(with("Bearer 0123456789abcdef").await.status, StatusCode::OK);
    for wrong in ["Bearer 0123456789abcdeg", "Bearer", "Basic 0123456789abcdef", "Bearer \u{e9}"] {
        let refused = with(wrong).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::UNAUTHORIZED, "unauthorized"));
        assert_eq!(refused.headers[header::WWW_AUTHENTICATE], "Bearer");
    }
    for closed in ["/v1/nodes", "/metrics", "/openapi.json", "/v1/map"] {
        assert_eq!(service.get(closed).await.status, StatusCode::UNAUTHORIZED, "{closed}");
    }
    for open in ["/", "/healthz", "/page/page.js"] {
        assert_eq!(service.get(open).await.status, StatusCode::OK, "{open}");
    }
}

#[tokio::test]
async fn names_that_lead_here_from_elsewhere_are_refused_without_a_token() {
    let service = service();
    let request = Request::get("/v1/model").header(header::HOST, "evil.example").body(Body::empty()).unwrap();
    assert_eq!(service.send(request).await.code(), "wrong_host");
    let request = Request::get("/v1/model").header(header::HOST, "localhost:8077").body(Body::empty()).unwrap();
    assert_eq!(service.send(request).await.status, StatusCode::OK);
}

#[tokio::test]
async fn too_many_requests_and_too_long_ones_are_answered_at_once() {
    let limits = Limits { waiting: 0, ..Limits::default() };
    let full = Service::new(Options { limits, ..Options::default() });
    let answer = full.post("/v1/links", json!({"nodes": [soup()]})).await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "overloaded"));
    assert_eq!(answer.headers[header::RETRY_AFTER], "1");
    assert_eq!(full.get("/healthz").await.status, StatusCode::OK);
    let limits = Limits { seconds: 1e-9, ..Limits::default() };
    let Service { folder, .. } = full;
    let slow = Service::of(folder, Options { limits, ..Options::default() });
    let answer = slow.post("/v1/links", json!({"nodes": [soup()]})).await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "too_slow"));
}

#[tokio::test]
async fn the_page_brings_all_it_needs() {
    let service = service();
    let page = service.get("/").await;
    assert!(page.headers[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/html"));
    let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let local = |start: &str| page.text.matches(start).count();
    assert_eq!(local("src=\"http") + local("href=\"http") + local("style=\"") + local("<style"), 0);
    for file in [
        "page.js",
        "style.css",
        "icon.svg",
        "api.js",
        "form.js",
        "map.js",
        "near.js",
        "results.js",
        "node.js",
        "element.js",
    ] {
        let answer = service.get(&format!("/page/{file}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{file}");
        assert_eq!(answer.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    }
}

#[tokio::test]
async fn requests_are_counted() {
    let service = service();
    service.get("/v1/nodes/p1").await;
    service.get("/nowhere").await;
    service.get("/nowhere/else").await;
    let metrics = service.get("/metrics").await;
    assert!(metrics.headers[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    for line in [
        "coldlink_model_nodes 300",
        "coldlink_request_seconds_count{method=\"GET\",path=\"/v1/nodes/{name}\",status=\"200\"} 1",
        "coldlink_request_seconds_count{method=\"GET\",path=\"other\",status=\"404\"} 2",
    ] {
        assert!(metrics.text.contains(line), "{line}\n{}", metrics.text);
    }
}

#[tokio::test]
async fn a_new_file_is_served_and_a_broken_one_is_not() {
    let service = service();
    let watching = tokio::spawn(Arc::clone(&service.server).watch());
    let first = service.server.current().fingerprint.clone();
    let held = service.server.current();
    train(service.folder.path(), 2).save(&service.path()).unwrap();
    let fingerprint = async || {
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if service.server.current().fingerprint != first {
                break;
            }
        }
        service.server.current().fingerprint.clone()
    };
    let second = fingerprint().await;
    assert_ne!(second, first);
    assert_eq!(held.fingerprint, first, "a request that has begun keeps its model");
    let broken = service.path().with_extension("broken");
    fs::write(&broken, b"no model").unwrap();
    fs::rename(&broken, service.path()).unwrap();
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    assert_eq!(service.server.current().fingerprint, second);
    let answer = service.post("/v1/links", json!({"nodes": [soup()]})).await;
    assert_eq!(answer.status, StatusCode::OK);
    watching.abort();
}

#[tokio::test]
async fn no_request_is_dropped_while_models_change() {
    let service = Arc::new(service());
    let watching = tokio::spawn(Arc::clone(&service.server).watch());
    let first = service.server.current().fingerprint.clone();
    let asking = (0..4).map(|_| {
        let (service, first) = (Arc::clone(&service), first.clone());
        tokio::spawn(async move {
            let mut answered = 0;
            while service.server.current().fingerprint == first || answered < 20 {
                assert_eq!(service.post("/v1/links", json!({"nodes": [soup()]})).await.status, StatusCode::OK);
                answered += 1;
            }
        })
    });
    let asking: Vec<_> = asking.collect();
    train(service.folder.path(), 2).save(&service.path()).unwrap();
    for task in asking {
        task.await.unwrap();
    }
    watching.abort();
}

#[tokio::test]
async fn a_model_without_columns_takes_attributes_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let world =
        World { nodes: 300, topics: 3, vocabulary: 13, words_of_topic: 4, words_per_node: 3, ..World::default() };
    fit(&world.dataset(), 1).save(&folder.path().join("model")).unwrap();
    let service = Service::of(folder, Options::default());
    let node = json!({"id": "x", "attributes": {"0": 1.0, "3": 0.5, "5": 0}});
    let found = service.post("/v1/links", json!({"nodes": [node], "explain": true})).await;
    assert_eq!(found.status, StatusCode::OK, "{}", found.text);
    assert!(found.text.contains("attribute 3"), "{}", found.text);
    for wrong in [
        json!({"13": 1}),
        json!({"x": 1}),
        json!({"0": "1"}),
        json!({"0": 1e300}),
        json!({"03": 1}),
        json!({"+3": 1}),
        json!([1]),
    ] {
        let answer = service.post("/v1/links", json!({"nodes": [{"attributes": wrong}]})).await;
        assert_eq!(answer.code(), "bad_value", "{}", answer.text);
    }
    let twice = service.post("/v1/links", json!({"nodes": [{"id": "x"}, {"id": "x"}]})).await;
    assert_eq!((twice.status, twice.code().as_str()), (StatusCode::CONFLICT, "known_node"));
    let example = service.get("/v1/model").await.json()["example"].clone();
    assert_eq!(service.post("/v1/links", json!({"nodes": [example]})).await.status, StatusCode::OK);
}

#[tokio::test]
async fn numbered_nodes_have_one_name_each() {
    let folder = tempfile::tempdir().unwrap();
    let [nodes, edges] = readable_tables(300, ("pages", |paper| paper));
    let dataset = load_csv(folder.path(), &nodes, &edges);
    fit(&Dataset { names: Names::Numbered(300), ..dataset }, 1).save(&folder.path().join("model")).unwrap();
    let service = Service::of(folder, Options::default());
    for (name, status) in [("7", 200), ("007", 404), ("+5", 404), ("%2B5", 404), ("300", 404)] {
        assert_eq!(service.get(&format!("/v1/nodes/{name}")).await.status.as_u16(), status, "{name}");
    }
    for (target, status) in [("7", 200), ("007", 404), ("+5", 404)] {
        let pairs = json!([{"source": "fresh", "target": target}]);
        let answer = service.post("/v1/score", json!({"nodes": [soup()], "pairs": pairs})).await;
        assert_eq!(answer.status.as_u16(), status, "{target}: {}", answer.text);
    }
    let excluded = service.post("/v1/links", json!({"nodes": [soup()], "exclude": ["007", "+5", "7"]})).await.json();
    assert_eq!(excluded["notes"], json!(["2 excluded names belong to no node"]));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_model_is_read_where_it_lies_and_not_copied() {
    let service = service();
    let mapped = || fs::read_to_string("/proc/self/maps").unwrap();
    let lines = |path: &str| mapped().lines().filter(|line| line.ends_with(path)).count();
    let path = service.path().to_str().unwrap().to_owned();
    assert!(lines(&path) > 0, "{}", mapped());
    service.post("/v1/nodes", json!({"nodes": [soup()]})).await;
    assert!(lines(&path) > 0, "the file with the new node is mapped now");
    let copy = format!("coldlink-{}-", std::process::id());
    assert!(!mapped().contains(&copy), "{}", mapped());
    let mut temporary = fs::read_dir(std::env::temp_dir()).unwrap();
    assert!(!temporary.any(|file| file.unwrap().file_name().to_string_lossy().starts_with(&copy)));
}

#[tokio::test]
async fn similar_nodes_are_the_same_with_an_index_and_without() {
    let service = service();
    let without = service.get("/v1/nodes/p29").await.json();
    let Service { folder, .. } = service;
    let path = folder.path().join("model");
    Model::open(&path).unwrap().build_index().save(&LinkIndex::path_of(&path)).unwrap();
    let indexed = Service::of(folder, Options::default());
    assert!(indexed.server.current().model.index().is_some());
    let with = indexed.get("/v1/nodes/p29").await.json();
    let cosines = |node: &Value| {
        let similar = node["most_similar"].as_array().unwrap();
        assert!(similar.len() == 10 && similar.iter().all(|other| other["name"] != "p29"), "{node}");
        similar.iter().map(|other| other["cosine"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    for (with, without) in cosines(&with).into_iter().zip(cosines(&without)) {
        assert!((with - without).abs() < 1e-3, "{with} and {without}");
    }
}

#[tokio::test]
async fn links_can_be_asked_for_by_value_and_an_unknown_one_is_told() {
    let service = Service::new(Options::default());
    let ask = |filter: Value| json!({"nodes": [{"id": "n", "words": ["soup", "salt"]}], "k": 300, "where": filter});
    let found = service.post("/v1/links", &ask(json!({"words": "oven"}))).await.json();
    let links = found["links"].as_array().unwrap();
    assert!(!links.is_empty() && links.len() < 100, "{}", links.len());
    assert!(links.iter().all(|link| link["target"].as_str().unwrap()[1..].parse::<usize>().unwrap() % 3 == 1));
    for filter in [json!({"words": "nothing"}), json!({"": ""})] {
        let refused = service.post("/v1/links", &ask(filter)).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (StatusCode::NOT_FOUND, &json!("unknown_value"))
        );
    }
    let pages = |link: &Value| 10 * (link["target"].as_str().unwrap()[1..].parse::<usize>().unwrap() % 17);
    for (condition, least, most) in [("<20", 0, 10), (">=150", 150, 160), ("30..50", 30, 50), ("70,70", 70, 70)] {
        let found = service.post("/v1/links", &ask(json!({"pages": condition}))).await.json();
        let links = found["links"].as_array().unwrap();
        assert!(!links.is_empty() && links.iter().all(|link| (least..=most).contains(&pages(link))), "{condition}");
    }
    let either = service.post("/v1/links", &ask(json!({"words": "oven,moon"}))).await.json();
    assert!(either["links"].as_array().unwrap().len() > links.len());
    let refused = service.post("/v1/links", &ask(json!({"pages": "many"}))).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::BAD_REQUEST, "bad_value"));
    let typed = service.post("/v1/links", json!({"nodes": [{"id": "n"}], "type": "user"})).await;
    assert_eq!((typed.status, typed.code().as_str()), (StatusCode::NOT_FOUND, "unknown_value"));
}

#[tokio::test]
async fn each_node_type_has_its_columns_and_gets_links_of_the_other_type() {
    let folder = tempfile::tempdir().unwrap();
    common::train_shop(folder.path()).save(&folder.path().join("model")).unwrap();
    let service = Service::of(folder, Options::default());
    let model = service.get("/v1/model").await.json();
    let column =
        |name: &str| model["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap();
    assert_eq!((&column("price")["of"], &column("age")["of"]), (&json!(["item"]), &json!(["user"])));
    assert_eq!((&column("taste")["of"], &column("node_type")["tells_type"]), (&json!([]), &json!(true)));
    let example = &model["example"];
    let others = if example["node_type"] == "user" { "price" } else { "age" };
    assert!(example.get(others).is_none(), "{example}");
    let user = json!({"id": "new", "node_type": "user", "taste": "t2", "age": 30});
    let found = service.post("/v1/links", json!({"nodes": [user], "k": 5, "explain": true})).await.json();
    assert_eq!(found["notes"], json!([]));
    assert!(!found.to_string().contains("price"), "users have no price that could be missing: {found}");
    let all_start_with = |found: &Value, letter: char| {
        let links = found["links"].as_array().unwrap();
        links.len() == 5 && links.iter().all(|link| link["target"].as_str().unwrap().starts_with(letter))
    };
    assert!(all_start_with(&found, 'i'), "{found}");
    let users = json!({"nodes": [{"node_type": "user", "taste": "t2"}], "type": "user", "k": 5});
    let found = service.post("/v1/links", users).await.json();
    assert!(all_start_with(&found, 'u'), "{found}");
}
