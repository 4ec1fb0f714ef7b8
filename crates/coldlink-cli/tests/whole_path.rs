//! From two tables to links of new nodes, by every command.

mod common;

use common::{Folder, QUICK};
use serde_json::Value;

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[test]
fn a_packed_graph_is_the_graph_it_was_made_of() {
    let folder = Folder::new();
    let packed = folder.check("convert papers -o papers.coldlink");
    assert_eq!(packed, "papers.coldlink: 90 nodes, 270 links, 15 attributes\n");
    let about =
        |graph: &str| -> Value { serde_json::from_str(&folder.check(&format!("inspect {graph} --json"))).unwrap() };
    assert_eq!(about("papers"), about("papers.coldlink"));
    assert_eq!(about("papers")["degree"]["mean"], 6.0);
    let pair = folder.run("inspect --nodes papers/nodes.csv --edges papers/edges.csv --json");
    assert_eq!(serde_json::from_str::<Value>(&pair.out).unwrap()["links"], 270, "{}", pair.err);
    assert!(folder.check("inspect papers").contains("column `words`"));
}

#[test]
fn inspect_says_why_a_column_is_of_its_kind_and_which_cells_are_odd() {
    let folder = Folder::new();
    let row = |row: usize| match row {
        7 => "n7,on request,en\n".to_owned(),
        _ => format!("n{row},\"{},50 €\",en\n", row * 3),
    };
    let rows: String = (0..40).map(row).collect();
    folder.write("shop/nodes.csv", format!("id,price,lang\n{rows}"));
    folder.write("shop/edges.csv", "source,target\nn1,n2\nn2,n3\n");
    let text = folder.check("inspect shop");
    for line in [
        "numeric, 2 attributes: nearly all cells are numbers",
        "such as `0,50 €`, `3,50 €`, `6,50 €`",
        "1 odd cell counts as missing: `on request`",
        "column `lang`             not used: all rows say the same",
        "note: left out column `lang`: all rows say the same",
        "note: column `price`: 1 cell is not numeric and counts as missing, first on line 9: `on request`",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let about: Value = serde_json::from_str(&folder.check("inspect shop --json")).unwrap();
    let price = &about["columns"][1];
    assert_eq!((&price["odd_cells"], &price["odd_examples"][0]), (&1.into(), &"on request".into()));
    assert!(folder.check("inspect shop --schema").contains("decimal = \"comma\""));
}

#[test]
fn what_loading_leaves_out_is_told_unless_quiet() {
    let folder = Folder::new();
    folder.write("loops/nodes.csv", "id,x,title\na,1,\nb,2,\nc,3,\n");
    folder.write("loops/edges.csv", "source,target,weight\na,a,1\na,b,2\na,b,2\nb,a,1\nb,c,1\nc,zz,1\n");
    let refused = folder.run("convert loops -o loops.coldlink");
    assert_eq!(refused.code, 2);
    let done = folder.run("convert loops -o loops.coldlink --unknown-nodes drop");
    for note in [
        "ignored 1 self-loop\n",
        "ignored 1 link of nodes without a row\n",
        "links have weights from 1 to 5, those of 1 repeated link added up",
        "left out column `title`",
    ] {
        assert!(done.err.contains(note), "{note} is not in\n{}", done.err);
    }
    let quiet = folder.run("convert loops -o loops.coldlink --unknown-nodes drop --quiet");
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (0, "", ""));
    folder.write("repeated/nodes.csv", "id,x\na,1\nb,2\nc,3\n");
    folder.write("repeated/edges.csv", "source,target\na,b\na,b\nb,c\n");
    let repeated = folder.run("convert repeated -o repeated.coldlink");
    assert!(repeated.err.contains("ignored 1 repeated link\n"), "{}", repeated.err);
    folder.write("odd/nodes.csv", "id,x\na,1\nb,2\nd,3\ne,4\nf,5\ng,6\nh,7\ni,8\nj,9\nc,soon\n");
    folder.write("odd/edges.csv", "source,target\na,b\nb,c\n");
    let strict = folder.run("inspect odd --strict-input");
    assert_eq!(strict.code, 2);
    assert!(strict.err.contains("omit `--strict-input`"), "{}", strict.err);
}

#[test]
fn a_model_finds_links_of_new_nodes_within_their_topic() {
    let folder = Folder::new();
    let trained = folder.train("papers.model", "");
    assert_eq!(trained.code, 0, "{}", trained.err);
    assert!(trained.out.contains("next: coldlink predict papers.model --new new.csv"), "{}", trained.out);
    assert!(trained.out.contains("linked)"), "an AP needs its prevalence: {}", trained.out);

    let found = folder.run("predict papers.model --new new.csv --top 3");
    assert_eq!(found.code, 0, "{}", found.err);
    assert!(found.err.contains("note: column `words`: 1 value is unknown to the model: `cheese`"), "{}", found.err);
    let rows = lines(&found.out);
    assert_eq!((rows.len(), rows[0]), (7, "source,rank,target,score,probability"));
    for (row, topic) in rows[1..].iter().zip([1, 1, 1, 2, 2, 2]) {
        let paper: usize = row.split(',').nth(2).unwrap()[1..].parse().unwrap();
        assert_eq!(paper % 3, topic, "{row}");
    }

    let jsonl = folder.check("predict papers.model --new new.csv --top 3 --format jsonl");
    for (line, row) in lines(&jsonl).iter().zip(&rows[1..]) {
        let value: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| value[key].as_str().map_or_else(|| value[key].to_string(), str::to_owned);
        let parts: Vec<&str> = row.split(',').collect();
        assert_eq!([text("source"), text("rank"), text("target")], parts[..3]);
    }
    let explained = folder.check("predict papers.model --new new.csv --top 3 --explain --format jsonl");
    for line in explained.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
        let explanation = &line["explanation"];
        let parts = ["other_attributes", "similar_nodes", "popularity", "baseline"];
        let parts = parts.map(|part| explanation[part].as_f64().unwrap());
        let named = explanation["attributes"].as_array().unwrap().iter().map(|part| part["adds"].as_f64().unwrap());
        let sum: f64 = named.chain(parts).sum();
        assert!((sum - line["score"].as_f64().unwrap()).abs() < 1e-4, "{line}");
        let probability = line["probability"].as_f64().unwrap();
        let shown = sum + explanation["base_rate"].as_f64().unwrap();
        assert!((shown - (probability / (1.0 - probability)).ln()).abs() < 1e-4, "{line}");
    }
    let first = rows[1].split(',').nth(2).unwrap();
    folder.write("old.csv", format!("name\n{first}\nnobody\n"));
    let without = folder.run("predict papers.model --new new.csv --top 100 --exclude old.csv --format csv");
    assert!(without.err.contains("note: 1 excluded name belongs to no node"), "{}", without.err);
    assert!(!without.out.contains(&format!(",{first},")), "{}", without.out);
    let mixed = folder.check("predict papers.model --new new.csv --top 1000 --among both --format csv");
    assert!(mixed.starts_with("source,rank,target,known,score"), "{mixed}");
    let of_new: Vec<&str> = mixed.lines().filter(|line| line.contains(",false,")).collect();
    assert_eq!(of_new.len(), 2, "each of two new nodes finds the other: {of_new:?}");
    let explored = folder.check("predict papers.model --new new.csv --top 4 --among both --explore 0.2 --format csv");
    let of_new: Vec<&str> = explored.lines().filter(|line| line.contains(",false,")).collect();
    assert_eq!((lines(&explored).len(), of_new.len()), (9, 2), "{explored}");
    let csv = folder.check("predict papers.model --new new.csv --top 1 --explain --format csv");
    assert!(csv.lines().next().unwrap().ends_with(",explanation"), "{csv}");
    let table = folder.check("predict papers.model --new new.csv --top 1 --format table");
    let [fresh, header, first] = lines(&table)[..3] else { panic!("{table}") };
    assert_eq!(
        (fresh, header.split_whitespace().collect::<Vec<_>>()),
        ("fresh", vec!["rank", "target", "probability", "score"])
    );
    assert!(first.starts_with(" 1     p"), "{table}");

    folder.check("predict papers.model --new new.csv --top 3 -o links.csv");
    assert_eq!(String::from_utf8(folder.read("links.csv")).unwrap(), found.out);
    folder.check("predict papers.model --new new.csv --top 3 -o links.jsonl");
    assert_eq!(String::from_utf8(folder.read("links.jsonl")).unwrap(), jsonl);
}

#[test]
fn pairs_score_as_the_ranking_does() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    let ranked = folder.check("predict papers.model --new new.csv --top 4 -q");
    let mut asked = "source,target\n".to_owned();
    for row in lines(&ranked)[1..].iter() {
        let parts: Vec<&str> = row.split(',').collect();
        asked.push_str(&format!("{},{}\n", parts[0], parts[2]));
    }
    asked.push_str("fresh,odd\n");
    folder.write("pairs.csv", &asked);
    let scored = folder.check("predict papers.model --new new.csv --pairs pairs.csv");
    assert_eq!(lines(&scored).len(), 10);
    for (scored, ranked) in lines(&scored)[1..].iter().zip(&lines(&ranked)[1..]) {
        let score = |row: &str| row.rsplit(',').nth(1).unwrap().parse::<f32>().unwrap();
        assert!((score(scored) - score(ranked)).abs() < 1e-5, "{scored} / {ranked}");
    }
}

#[test]
fn shares_out_of_range_are_refused() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    for words in
        ["--popularity 2", "--popularity nan", "--base-rate 0", "--base-rate 1", "--explore 2", "--explore nan"]
    {
        assert_eq!(folder.run(&format!("predict papers.model --new new.csv {words}")).code, 2, "{words}");
    }
}

#[test]
fn embeddings_come_with_names_in_the_same_order() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    folder.check("embed papers.model -o seen.npy");
    folder.check("embed papers.model -o structure.npy --which structure");
    folder.check("embed papers.model -o fresh.npy --new new.csv");
    let array = |name: &str, shape: &str| {
        let bytes = folder.read(name);
        let header = String::from_utf8_lossy(&bytes[..128]).into_owned();
        assert!(header.contains(shape), "{header}");
        bytes[128..].to_vec()
    };
    assert_ne!(array("seen.npy", "(90, 16)"), array("structure.npy", "(90, 16)"));
    array("fresh.npy", "(2, 16)");
    assert_eq!(folder.read("fresh.names.txt"), b"fresh\nodd\n");
    assert!(folder.read("seen.names.txt").starts_with(b"p0\np1\n"));
    let refused = folder.run("embed papers.model -o x.npy --new new.csv --which structure");
    assert_eq!(refused.code, 2);
}

#[test]
fn added_nodes_are_found_like_those_of_the_graph() {
    let folder = Folder::new();
    assert_eq!(folder.train("m", "").code, 0);
    let old = folder.read("m");
    assert_eq!(folder.check("add m --new new.csv -o larger"), "larger: added 2 nodes, now 92 nodes\n");
    assert_eq!(folder.read("m"), old);
    assert_eq!(folder.check("add m --new new.csv"), "m: added 2 nodes, now 92 nodes\n");
    assert!(folder.read("m").starts_with(&old), "they are written behind what was there");
    folder.write("other.csv", "id,words,old\nother,soup|salt,1\n");
    let found = folder.check("predict m --new other.csv --top 92 --format csv");
    assert_eq!(folder.check("predict larger --new other.csv --top 92 --format csv"), found);
    assert!(lines(&found).iter().any(|line| line.contains(",fresh,")), "{found}");
    let again = folder.run("add m --new new.csv");
    assert_eq!(again.code, 2);
    assert!(
        again.err.contains("the model already has a node `fresh`") && again.err.contains("hint: "),
        "{}",
        again.err
    );
    assert!(folder.check("inspect m").contains("nodes added later"));
}

#[test]
fn embeddings_go_to_parquet_by_the_ending_of_the_file() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    let written = folder.check("embed papers.model -o papers.parquet");
    assert_eq!(written, "papers.parquet: 90 rows of 16 numbers\n");
    let bytes = folder.read("papers.parquet");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert!(!folder.exists("papers.names.txt"), "names are a column");
}

#[test]
fn an_index_is_used_where_it_belongs_to_the_model_and_told_where_not() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    assert!(!folder.exists("papers.model.index"), "a small graph needs none");
    let exact = folder.check("predict papers.model --new new.csv");
    let made = folder.check("index papers.model");
    assert!(made.starts_with("papers.model.index: 90 nodes, made in "), "{made}");
    assert!(
        made.contains(
            "finds 100.0 % of the ten best links with scores 0.000 off on average, measured on 90 nodes held as if new"
        ),
        "{made}"
    );
    assert_eq!(folder.check("predict papers.model --new new.csv"), exact);
    assert!(folder.check("inspect papers.model").contains("of 90 nodes, finds 100.0 % of the ten best links"));

    let stranger = folder.read("papers.model.index");
    assert_eq!(folder.train("papers.model", "--seed 7").code, 0);
    assert_ne!(folder.read("papers.model.index"), stranger, "it is made again with the model");
    folder.write("papers.model.index", &stranger);
    let told = folder.run("predict papers.model --new new.csv");
    assert!(told.code == 0 && told.err.contains("was built from another model"), "{}", told.err);
    assert!(told.err.contains("`coldlink index papers.model` builds it again"), "{}", told.err);
    assert!(!folder.run("predict papers.model --new new.csv --exact").err.contains("index"));
    folder.write("papers.model.index", "nonsense");
    assert!(folder.run("predict papers.model --new new.csv").err.contains("cannot open `papers.model.index`"));
    let about: Value = serde_json::from_str(&folder.check("inspect papers.model --json")).unwrap();
    assert!(about["index"].is_null() && about["index_problem"].is_string(), "{about}");
}

#[test]
fn a_model_says_what_it_is() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "--seed 7").code, 0);
    let about: Value = serde_json::from_str(&folder.check("inspect papers.model --json")).unwrap();
    assert_eq!((&about["format"], &about["seed"], &about["nodes"]), (&"model".into(), &7.into(), &90.into()));
    assert_eq!(about["config"]["width"], 16);
    assert!(folder.check("inspect papers.model").contains("width = 16"));
}

#[test]
fn a_report_is_one_json_object_with_the_promised_keys() {
    let folder = Folder::new();
    let done = folder.run(&format!("evaluate papers --seeds 2 --json {}", QUICK.join(" ")));
    assert_eq!(done.code, 0, "{}", done.err);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    let has = |value: &Value, keys: &[&str]| {
        keys.iter().for_each(|key| assert!(value.get(key).is_some(), "no `{key}` in {value:#}"));
    };
    has(
        &report,
        &["dataset", "protocol", "preset", "validation", "nodes", "edges", "attributes", "prevalence", "audit"],
    );
    has(&report, &["seeds", "mean", "sd", "baselines"]);
    let metrics = ["auc", "ap", "mrr", "hits@10", "cold_warm", "cold_cold"];
    let seeds = report["seeds"].as_array().unwrap();
    assert_eq!(seeds.iter().map(|seed| seed["seed"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    for seed in seeds {
        has(seed, &metrics);
        has(seed, &["steps", "train_seconds"]);
    }
    for part in [&seeds[0], &seeds[1], &report["mean"], &report["sd"]] {
        has(part, &metrics);
        for class in ["cold_warm", "cold_cold"] {
            has(&part[class], &["auc", "ap", "prevalence"]);
        }
    }
    for baseline in ["random", "degree", "cosine", "tfidf"] {
        has(&report["baselines"][baseline], &["auc", "ap"]);
    }
    assert_eq!((&report["dataset"], &report["protocol"]), (&"papers".into(), &"strict".into()));
    assert_eq!((&report["preset"], &report["validation"]), (&"default".into(), &"nodes".into()));
    assert_eq!((&report["audit"], &report["edges"]), (&"passed".into(), &270.into()));
    assert_eq!(report["settings"]["width"], 16);
}

#[test]
fn a_report_in_words_has_the_baselines_and_the_prevalence() {
    let folder = Folder::new();
    let report = folder.check(&format!("evaluate papers --quiet {} --rank-baselines", QUICK.join(" ")));
    for part in ["coldlink", "tf-idf cosine", "random", "cold-warm", "cold-cold", "linked", "Hits@10", "audit passed"] {
        assert!(report.contains(part), "{part} is not in\n{report}");
    }
    assert!(!report.contains('–'), "everything has a number:\n{report}");
}

#[test]
fn evaluation_reads_back_what_split_wrote() {
    let folder = Folder::new();
    let quick = QUICK.join(" ");
    let auc = |protocol: &str| -> Value {
        let line = format!("evaluate papers --protocol {protocol} --seed 3 --json {quick}");
        serde_json::from_str::<Value>(&folder.check(&line)).unwrap()["mean"].clone()
    };
    for protocol in ["strict", "deal2020", "transductive"] {
        let said = folder.check(&format!("split papers -o split --protocol {protocol} --seed 3"));
        assert!(said.contains("audit: passed"), "{said}");
        assert_eq!(auc("split"), auc(protocol), "{protocol}");
    }
}

#[test]
fn validation_follows_the_protocol_unless_someone_asks() {
    let folder = Folder::new();
    let rule = |words: &str| {
        let preset = if words.contains("--preset") { "" } else { "--preset default" };
        let done = folder.run(&format!("evaluate papers --json {preset} {} {words}", QUICK[2..].join(" ")));
        let report: Value = serde_json::from_str(&done.out).unwrap_or_default();
        (done.code, report["validation"].as_str().map(str::to_owned), done.err)
    };
    let check = |words: &str, expected: &str| assert_eq!(rule(words).1.as_deref(), Some(expected), "{words}");
    check("--preset paper", "nodes");
    check("--preset paper --protocol deal2020", "edges");
    check("--protocol deal2020", "nodes");
    check("--protocol transductive", "edges");
    for words in ["--validation edges", "--set validation=edges", "--protocol transductive --validation nodes"] {
        let (code, _, err) = rule(words);
        assert_eq!(code, 2, "{words}");
        assert!(err.contains("hint: omit `--validation`"), "{err}");
    }
}

#[test]
fn missing_what_was_asked_exits_with_one() {
    let folder = Folder::new();
    let quick = QUICK.join(" ");
    let done = folder.run(&format!("evaluate papers {quick} --min-auc 1.1 --json"));
    assert_eq!(done.code, 1);
    assert!(done.err.contains("below `--min-auc 1.1`"), "{}", done.err);
    serde_json::from_str::<Value>(&done.out).expect("the report is printed all the same");
    assert_eq!(folder.run(&format!("evaluate papers {quick} --min-auc 0.1")).code, 0);
}

#[test]
fn a_failed_audit_exits_with_one_unless_accepted() {
    let folder = Folder::new();
    folder.check("split papers -o split");
    // A pair that is linked is called unlinked: the checksum is made to agree, the audit is not.
    let test = String::from_utf8(folder.read("split/test.csv")).unwrap().replacen(",1\n", ",0\n", 1);
    let checksum = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(test.as_bytes()));
    let manifest = String::from_utf8(folder.read("split/split.toml")).unwrap();
    let manifest: String =
        manifest
            .lines()
            .map(|line| {
                if line.contains("test.csv") { format!("\"test.csv\" = \"{checksum}\"\n") } else { format!("{line}\n") }
            })
            .collect();
    folder.write("split/test.csv", &test);
    folder.write("split/split.toml", &manifest);
    let line = format!("evaluate papers --protocol split --json {}", QUICK.join(" "));
    let failed = folder.run(&line);
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert!(failed.err.contains("hint: correct the split"), "{}", failed.err);
    let accepted: Value = serde_json::from_str(&folder.check(&format!("{line} --accept-audit"))).unwrap();
    assert_eq!(accepted["audit"], "failed: 1 test negative is linked in the graph");
}

#[test]
fn closed_output_is_no_error() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    let mut child = folder
        .command(&["predict", "papers.model", "--new", "papers/nodes.csv", "--top", "90", "-q"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn settings_are_searched_for_and_the_choice_is_told() {
    let folder = Folder::new();
    let quick = "--set width=16 --set steps=60 --set batch=64 --set negatives=32 --budget 5s";
    let done = folder.run(&format!("evaluate papers --protocol deal2020 {quick}"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.starts_with("plan: 7 trials and the final fit; on two ordinary cores "), "{}", done.err);
    assert!(done.err.contains("trial 1 of 7") && done.err.contains("settings: "), "{}", done.err);
    assert!(done.out.contains("preset auto") && done.out.contains("the best of 7 trials"), "{}", done.out);
    let told =
        folder.check(&format!("tune papers -o found.toml {} --trials 9 --plot trials.svg -q", QUICK[2..].join(" ")));
    assert!(told.contains("next: coldlink train GRAPH -o MODEL --preset found.toml"), "{told}");
    let again = folder.check(&format!(
        "tune papers -o again.toml {} --trials 9 --trials-folder found.trials -q",
        QUICK[2..].join(" ")
    ));
    let preset = |name: &str| String::from_utf8(folder.read(name)).unwrap();
    assert_eq!(preset("found.toml"), preset("again.toml"), "{again}");
    assert!(preset("trials.svg").contains("</svg>"));
    folder.check("train papers -o papers.model --preset found.toml");
    assert!(folder.check("inspect papers.model").contains("preset"), "the tuned preset is one");
}

#[test]
fn the_demo_goes_the_whole_way_and_can_be_repeated() {
    let folder = Folder::new();
    let first = folder.check("demo --papers 300 --budget 5s -o world");
    for part in ["tf-idf cosine", "new-1", "new-3", "coldlink train world -o world/papers.model"] {
        assert!(first.contains(part), "{part} is not in\n{first}");
    }
    let printed = folder.check("predict world/papers.model --new world/new-papers.csv --top 5 --format table -q");
    assert!(first.ends_with(&printed), "what the demo shows is what its command prints:\n{printed}");
    let links = |text: &str| text[text.find("new-1").unwrap()..].to_owned();
    assert_eq!(links(&folder.check("demo --papers 300 --budget 5s -o world --quiet")), links(&first));
    let refused = folder.run("demo -o papers");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("hint: choose another folder"), "{}", refused.err);
}

#[test]
fn known_nodes_and_new_ones_with_links_are_asked_about() {
    let folder = Folder::new();
    folder.run_words(&[&["train", "papers", "-o", "papers.model"], &QUICK[..]].concat());
    folder.write("names.csv", "name\np1\np2\n");
    let known = folder.check("predict papers.model --known names.csv --top 3 --format jsonl");
    let sources: Vec<Value> =
        lines(&known).iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["source"].clone()).collect();
    assert_eq!(sources, ["p1", "p1", "p1", "p2", "p2", "p2"]);
    folder.write("links.csv", "source,target\nfresh,p1\np4,fresh\n");
    let linked = folder.check("predict papers.model --new new.csv --links links.csv --top 90");
    assert!(
        !linked.contains("fresh,1,p1,")
            && !lines(&linked).iter().any(|line| line.starts_with("fresh,") && line.contains(",p4,"))
    );
    assert_eq!(lines(&linked).len(), 1 + 88 + 90);
    folder.write("wrong.csv", "source,target\nfresh,p1\nfresh,nobody\n");
    let wrong = folder.run("predict papers.model --new new.csv --links wrong.csv");
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.err.contains("`wrong.csv` line 3: there is neither a new node nor a known one `nobody`"),
        "{}",
        wrong.err
    );
    folder.write("names.csv", "name\np1\n\"nobody\"\n");
    let wrong = folder.run("predict papers.model --known names.csv");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("`names.csv` line 3: there is no known node `nobody`\nhint: "), "{}", wrong.err);
}

#[test]
fn a_curve_shows_what_a_few_links_are_worth() {
    let folder = Folder::new();
    let line = ["evaluate", "papers", "--protocol", "few:2", "--curve", "few.svg"];
    let done = folder.run_words(&[&line, &QUICK[..]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("links given") && done.out.contains("up to 2"), "{}", done.out);
    let picture = String::from_utf8(folder.read("few.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("kNN votes"));
    let refused = folder.run("evaluate papers --curve other.svg");
    assert!(refused.code == 2 && refused.err.contains("--protocol few:5"), "{}", refused.err);
}
