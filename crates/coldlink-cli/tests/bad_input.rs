//! Input that cannot be worked with: exit code 2, what and where, a hint, and no output.

mod common;

use common::Folder;

/// Runs a command that must fail before it writes anything, and yields what it says.
fn fails(folder: &Folder, line: &str) -> String {
    let before = folder.names();
    let done = folder.run(line);
    assert_eq!(done.code, 2, "{line}\n{}{}", done.out, done.err);
    assert_eq!(folder.names(), before, "{line} left something behind");
    assert!(done.err.starts_with("error: ") && !done.err.contains("panicked"), "{line}\n{}", done.err);
    assert_eq!(done.out, "", "{line}");
    done.err
}

fn check(folder: &Folder, line: &str, parts: &[&str]) {
    let said = fails(folder, line);
    parts.iter().for_each(|part| assert!(said.contains(part), "{line}: {part} is not in\n{said}"));
}

#[test]
fn tables_that_are_wrong_are_named_with_their_line() {
    let folder = Folder::new();
    let cases = [
        (
            "ragged",
            "id,x\na,1\nb\n",
            "source,target\na,b\n",
            "nodes.csv` line 3: expected 2 cells as in the header, got 1",
        ),
        ("twice", "id,x\na,1\na,2\n", "source,target\na,b\n", "nodes.csv` line 3: node `a` already has a row"),
        ("unknown", "id,x\na,1\nb,1\n", "source,target\na,z\n", "edges.csv` line 2: node `z` has a link but no row"),
        ("empty", "id,x\n", "source,target\n", "nodes.csv` has no nodes"),
        ("no-links", "id,x\na,1\nb,2\n", "source,target\n", "edges.csv` has no links"),
        (
            "weight",
            "id,x\na,1\nb,2\n",
            "source,target,weight\na,b,-1\n",
            "edges.csv` line 2: column `weight` holds weights, but `-1` is below 0",
        ),
        (
            "nan",
            "id,x\na,1\nb,2\n",
            "source,target,count\na,b,NaN\n",
            "edges.csv` line 2: column `count` is numeric, but `NaN` is not a finite 32-bit number",
        ),
        (
            "time",
            "id,x\na,1\nb,2\n",
            "source,target,date\na,b,2001-02-03\nb,a,soon\n",
            "edges.csv` line 3: column `date` holds times, but `soon` is neither a date nor a number",
        ),
    ];
    for (name, nodes, edges, expected) in cases {
        folder.write(&format!("{name}/nodes.csv"), nodes);
        folder.write(&format!("{name}/edges.csv"), edges);
        let first = format!("error: cannot load `{name}`\n  caused by: ");
        check(&folder, &format!("convert {name} -o out.coldlink"), &[&first, expected, "\nhint: "]);
        check(&folder, &format!("train {name} -o out.model"), &[expected]);
        check(&folder, &format!("evaluate {name} --json"), &[expected]);
    }
}

#[test]
fn no_output_destroys_an_input() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    folder.write("pairs.csv", "source,target\nfresh,p1\n");
    folder.write("names.txt", "p1\n");
    folder.write("columns.toml", "[columns]\nwords = \"multi\"\n");
    folder.write("vectors.toml", "[columns]\nwords = { kind = \"text\", encoder = \"v/words.safetensors\" }\n");
    folder.write("v/words.safetensors", "");
    folder.write("settings.toml", "steps = 5\n");
    folder.write("a.names.txt", "id,words\nfresh,soup\n");
    folder.check("split papers -o split");
    #[cfg(unix)]
    std::os::unix::fs::symlink("papers/nodes.csv", folder.path("link.csv")).unwrap();
    for command in [
        "train papers -o papers/nodes.csv",
        "train papers -o papers/nodes.tsv",
        "train papers -o link.csv",
        "train papers/../papers -o ./papers/edges.csv",
        "convert papers -o papers/edges.csv",
        "tune papers -o papers/nodes.csv",
        "tune papers -o new.toml --plot papers/edges.csv",
        "evaluate papers --reliability papers/edges.csv",
        "evaluate papers --protocol split --reliability split/test.csv",
        "split papers --protocol split -o split",
        "train papers --columns columns.toml -o columns.toml",
        "train papers --columns vectors.toml -o v/words.safetensors",
        "train papers --columns vectors.toml -o v/tokenizer.json",
        "train papers --config settings.toml -o settings.toml",
        "train papers --preset settings.toml -o settings.toml",
        "predict papers.model --new new.csv --pairs pairs.csv -o pairs.csv",
        "predict papers.model --new new.csv --exclude names.txt -o names.txt",
        "predict papers.model --new new.csv -o papers.model",
        "embed papers.model --new a.names.txt -o a.npy",
        "add papers.model --new new.csv -o new.csv",
    ] {
        check(&folder, command, &["both input and output", "hint: write to another file"]);
    }
    check(&folder, "tune papers -o new.toml --plot new.toml", &["would be written twice", "hint: "]);
}

#[test]
fn paths_that_lead_nowhere_are_errors() {
    let folder = Folder::new();
    check(&folder, "inspect nowhere", &["cannot load `nowhere`", "`nowhere` does not exist"]);
    check(&folder, "train papers -o nowhere/out.model", &["folder `nowhere` does not exist", "hint: create it"]);
    check(&folder, "train papers -o /dev/null", &["it is not a regular file", "hint: "]);
    check(&folder, "train papers -o papers", &["it is a folder", "hint: "]);
    check(
        &folder,
        "train --nodes papers/nodes.csv --edges papers/edges.csv -o papers/edges.csv",
        &["both input and output"],
    );
    check(&folder, "predict nowhere.model --new new.csv", &["cannot open `nowhere.model`", "hint: check the path"]);
    check(
        &folder,
        "evaluate papers --protocol strickt",
        &["`strickt` is neither a protocol nor a split", "hint: use `strict`"],
    );
    check(&folder, "split papers -o papers", &["`papers` is not a split", "hint: "]);
    check(&folder, "inspect new.csv", &["is one table", "hint: give the folder that holds both"]);
}

#[test]
fn an_archive_with_pickles_or_cut_off_is_refused() {
    let folder = Folder::new();
    folder.write("pickled.npz", pickled_archive());
    check(
        &folder,
        "convert pickled.npz -o out.coldlink",
        &["array `adj_shape`: it holds pickled Python objects", "hint: "],
    );
    folder.write("cut.npz", &pickled_archive()[..60]);
    check(&folder, "convert cut.npz -o out.coldlink", &["`cut.npz` is not a readable zip archive", "hint: "]);
}

/// An archive of which the first array that is looked at holds Python objects.
fn pickled_archive() -> Vec<u8> {
    let header = "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }";
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend_from_slice(&118_u16.to_le_bytes());
    array.extend_from_slice(format!("{header:117}\n").as_bytes());
    array.extend_from_slice(b"\x80\x03]q\x00.");
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in ["adj_shape.npy", "adj_indices.npy", "adj_indptr.npy", "attr_shape.npy"] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, &array).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn damaged_files_are_noticed() {
    let folder = Folder::new();
    folder.check("convert papers -o papers.coldlink");
    let packed = folder.read("papers.coldlink");
    folder.write("cut.coldlink", &packed[..packed.len() - 7]);
    check(
        &folder,
        "train cut.coldlink -o out.model",
        &["cannot open `cut.coldlink`", "cut off", "hint: copy the file again, or make it again"],
    );
    assert_eq!(folder.train("papers.model", "").code, 0);
    let mut model = folder.read("papers.model");
    folder.write("cut.model", &model[..model.len() / 2]);
    check(&folder, "predict cut.model --new new.csv", &["cannot open `cut.model`", "hint: copy the file again"]);
    check(&folder, "inspect cut.model", &["cannot open `cut.model`", "cut off", "hint: copy the file again"]);
    folder.write("none.model", "no model");
    check(&folder, "inspect none.model", &["`none.model` is neither a graph nor a model", "hint: a graph is"]);
    let last = model.len() - 1;
    model[last] ^= 1;
    folder.write("bent.model", &model);
    check(&folder, "embed bent.model -o out.npy", &["the checksum is", "hint: copy the file again"]);
    check(&folder, "train papers.model -o out.model", &["it is a model, but a graph is wanted", "hint: a graph is"]);
    check(&folder, "predict papers.coldlink --new new.csv", &["it is a graph, but a model is wanted", "hint: train a"]);
}

#[test]
fn settings_that_do_not_exist_name_the_nearest() {
    let folder = Folder::new();
    check(&folder, "train papers -o out.model --set widht=3", &["no setting `widht`", "hint: did you mean `width`?"]);
    check(&folder, "train papers -o out.model --set width=0", &["`width` must be from 1 to 4096, got 0"]);
    check(
        &folder,
        "train papers -o out.model --set width",
        &["expected `key=value`, got `width`", "hint: write, for example, `--set width=128`"],
    );
    check(&folder, "train papers -o out.model --preset papr", &["no preset `papr`", "hint: did you mean `paper`?"]);
    check(&folder, "train papers -o out.model --preset none.toml", &["cannot read `none.toml`"]);
    folder.write("bad.toml", "width = 16\nstep = 3\n");
    check(
        &folder,
        "train papers -o out.model --config bad.toml",
        &["cannot use `bad.toml`", "no setting `step`", "`steps`"],
    );
    check(&folder, "train papers -o out.model --threads 0", &["--threads"]);
    check(&folder, "train papers -o out.model --cpu z80", &["--cpu"]);
    check(&folder, "train papers -o out.model --resume", &["--checkpoint"]);
}

#[test]
fn new_nodes_that_do_not_fit_the_model_are_refused() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    folder.write("narrow.csv", "id,words\nfresh,soup\n");
    let strict = "predict papers.model --strict-input --new";
    check(&folder, &format!("{strict} narrow.csv"), &["`narrow.csv`: column `old` is missing", "hint: "]);
    folder.write("wrong.csv", "id,words,old\nfresh,soup,many\n");
    check(&folder, &format!("{strict} wrong.csv -o out.csv"), &["line 2: column `old`: cannot read `many` as numeric"]);
    let lenient = folder.run("predict papers.model --new wrong.csv -o links.csv");
    assert_eq!(lenient.code, 0);
    assert!(
        lenient.err.contains("column `old`: 1 cell is not numeric and counts as missing, first on line 2: `many`"),
        "{}",
        lenient.err
    );
    folder.write("pairs.csv", "source,target\nfresh,p1\nfresh,p999\n");
    let line = "predict papers.model --new new.csv --pairs pairs.csv -q -o out.csv";
    check(&folder, line, &["`pairs.csv` line 3: there is no node `p999`", "hint: "]);
}

#[test]
fn the_words_of_an_error() {
    let folder = Folder::new();
    folder.write("papers/edges.csv", "source,target\np1,p2\np1,p4412\n");
    insta::assert_snapshot!(fails(&folder, "train papers -o out.model"), @r"
    error: cannot load `papers`
      caused by: `papers/edges.csv` line 3: node `p4412` has a link but no row in `nodes.csv`
    hint: add the row, or drop such links with `--unknown-nodes drop`
    ");
}
