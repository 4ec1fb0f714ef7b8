//! A generated world that a person can read: papers with titles and keywords, and who cites whom.
//!
//! A paper belongs to a field (a cluster of keywords within a topic) and sometimes to a second one. It cites older
//! papers, popular ones rather than others: mostly of its fields, often of the same topic or of a kindred field of
//! another topic, and now and then anything. Two papers of a field need not share a keyword, and kindred fields never
//! do, so that comparing keywords finds most links and learning from the links finds more.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use coldlink::storage::write_atomically;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::words::{Field, KINDRED, METHODS, Method, Topic};

/// Chosen so that, under `strict`, tf-idf cosine reaches an AUC of about 0.82 and DEAL one of about 0.92.
mod share {
    /// Of papers, that have a second field.
    pub(super) const SECOND_FIELD: f64 = 0.25;
    /// Of a paper's keywords, besides methods: of its fields; of the rest, of its topic; else of any.
    pub(super) const FIELD_KEYWORDS: f64 = 0.75;
    pub(super) const TOPIC_KEYWORDS: f64 = 0.8;
    /// Of citations: within the field, the topic, or to a kindred field; the rest goes anywhere.
    pub(super) const FIELD_CITATIONS: f64 = 0.58;
    pub(super) const TOPIC_CITATIONS: f64 = 0.18;
    pub(super) const KINDRED_CITATIONS: f64 = 0.15;
    /// Of titles, that name a place.
    pub(super) const PLACES: f64 = 0.5;
}

/// The mean of a paper's citations; each is a link of two papers.
const MEAN_CITATIONS: f64 = 4.2;

/// The standard deviation of a paper's log-popularity.
const POPULARITY_SPREAD: f64 = 0.7;

/// Papers that are in no graph yet.
const NEW_PAPERS: usize = 6;

const FIRST_YEAR: usize = 1970;
const LAST_YEAR: usize = 2026;

/// Papers, their citations, and a few papers that nobody has cited yet.
pub struct World {
    papers: Vec<Paper>,
    /// The citing paper, and the older one that it cites.
    citations: Vec<(usize, usize)>,
    new_papers: Vec<Paper>,
}

struct Paper {
    id: String,
    title: String,
    keywords: Vec<&'static str>,
    kind: &'static str,
    year: usize,
    fields: Vec<FieldId>,
}

impl World {
    /// A world of `papers` papers in the graph and a few new ones; the same seed gives the same world.
    pub fn generate(papers: usize, seed: u64) -> World {
        let mut author = Author::new(seed);
        let digits = papers.to_string().len();
        let year = |place: usize| {
            FIRST_YEAR + ((LAST_YEAR - FIRST_YEAR) as f64 * (place as f64 / papers as f64).sqrt()) as usize
        };
        let written = (0..papers).map(|place| author.write(format!("p{:0digits$}", place + 1), year(place)));
        let written: Vec<Paper> = written.collect();
        let new_papers = (1..=NEW_PAPERS).map(|number| author.write(format!("new-{number}"), LAST_YEAR)).collect();
        let citations = Library::new(&author.fields).cite(&written, &mut author.rng);
        World { papers: written, citations, new_papers }
    }

    /// Writes the world into a folder, as the tables that any user would bring, with a `README.txt`.
    pub fn export(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        write_atomically(&folder.join("nodes.csv"), |file| write_papers(file, &self.papers))?;
        write_atomically(&folder.join("edges.csv"), |file| self.write_citations(file))?;
        write_atomically(&folder.join("new-papers.csv"), |file| write_papers(file, &self.new_papers))?;
        write_atomically(&folder.join("README.txt"), |file| self.write_readme(file))
    }

    fn write_citations(&self, file: &mut impl Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(file);
        table.write_record(["source", "target"])?;
        for &(source, target) in &self.citations {
            table.write_record([&self.papers[source].id, &self.papers[target].id])?;
        }
        table.flush()
    }

    fn write_readme(&self, file: &mut impl Write) -> io::Result<()> {
        let (papers, citations, new_papers) = (self.papers.len(), self.citations.len(), self.new_papers.len());
        write!(
            file,
            "A made-up world of papers, to try coldlink on. Nobody wrote them.

nodes.csv        {papers} papers: id, title, keywords (several, separated by |), kind and year, with gaps
edges.csv        {citations} citations: the citing paper and the cited one
new-papers.csv   {new_papers} papers that are not in the graph and have no citations, in the columns of nodes.csv

All columns but the id are attributes: words of titles, keywords, kinds, and years as numbers.

In this folder:

    coldlink inspect .
    coldlink evaluate . --protocol strict
    coldlink train . -o papers.model
    coldlink predict papers.model --new new-papers.csv --top 10
"
        )
    }
}

/// The columns of `nodes.csv`: a text, several words, a value and a number, with the gaps that real tables have.
fn write_papers(file: &mut impl Write, papers: &[Paper]) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(file);
    table.write_record(["id", "title", "keywords", "kind", "year"])?;
    for (place, paper) in papers.iter().enumerate() {
        let has = |every: usize, text: String| if place % every == every - 1 { String::new() } else { text };
        let (kind, year) = (has(31, paper.kind.to_owned()), has(17, paper.year.to_string()));
        table.write_record([&paper.id, &paper.title, &paper.keywords.join("|"), &kind, &year])?;
    }
    table.flush()
}

/// A field, by its place among the fields of all topics.
type FieldId = usize;

/// All fields in a row, and which of them read each other.
struct Fields {
    topics: Vec<Topic>,
    /// The topic of each field, and its place there.
    places: Vec<(usize, usize)>,
    kindred: HashMap<FieldId, FieldId>,
}

impl Fields {
    fn new() -> Self {
        let topics = Topic::all();
        let fields_of = |topic: usize| (0..topics[topic].fields.len()).map(move |field| (topic, field));
        let places: Vec<_> = (0..topics.len()).flat_map(fields_of).collect();
        let find = |name| places.iter().position(|&(topic, field)| topics[topic].fields[field].name == name);
        let pairs = KINDRED.iter().filter_map(|&(one, other)| find(one).zip(find(other)));
        let kindred = pairs.flat_map(|(one, other)| [(one, other), (other, one)]).collect();
        Fields { topics, places, kindred }
    }

    fn get(&self, field: FieldId) -> &Field {
        let (topic, place) = self.places[field];
        &self.topics[topic].fields[place]
    }

    fn topic(&self, field: FieldId) -> usize {
        self.places[field].0
    }
}

/// Writes papers.
struct Author {
    fields: Fields,
    rng: Xoshiro256PlusPlus,
}

impl Author {
    fn new(seed: u64) -> Self {
        Author { fields: Fields::new(), rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    fn write(&mut self, id: String, year: usize) -> Paper {
        let fields = self.choose_fields();
        let method = METHODS.choose(&mut self.rng).expect("there are methods");
        let mut keywords = self.choose_keywords(&fields);
        let title = self.choose_title(method, &keywords, self.fields.topic(fields[0]));
        keywords.push(method.keyword);
        keywords.shuffle(&mut self.rng);
        Paper { id, title, keywords, kind: method.keyword, year, fields }
    }

    /// A field, and sometimes a second one: the kindred one, or another of the topic.
    fn choose_fields(&mut self) -> Vec<FieldId> {
        let first = self.rng.random_range(0..self.fields.places.len());
        if !self.rng.random_bool(share::SECOND_FIELD) {
            return vec![first];
        }
        let topic = self.fields.topic(first);
        let others = (0..self.fields.places.len()).filter(|&field| field != first && self.fields.topic(field) == topic);
        let others: Vec<FieldId> = others.chain(self.fields.kindred.get(&first).copied()).collect();
        vec![first, *others.choose(&mut self.rng).expect("a topic has several fields")]
    }

    /// Four to eight different ones, the first of them of the paper's own field.
    fn choose_keywords(&mut self, fields: &[FieldId]) -> Vec<&'static str> {
        let count = self.rng.random_range(4..=8);
        let mut keywords = vec![self.keyword(fields[0])];
        while keywords.len() < count {
            let field = self.choose_field_near(fields);
            let keyword = self.keyword(field);
            if !keywords.contains(&keyword) {
                keywords.push(keyword);
            }
        }
        keywords
    }

    fn keyword(&mut self, field: FieldId) -> &'static str {
        self.fields.get(field).keywords.choose(&mut self.rng).expect("a field has keywords")
    }

    /// Where a paper of `fields` takes its next keyword from.
    fn choose_field_near(&mut self, fields: &[FieldId]) -> FieldId {
        let own = *fields.choose(&mut self.rng).expect("a paper has a field");
        if self.rng.random_bool(share::FIELD_KEYWORDS) {
            return own;
        }
        let topic = self.rng.random_bool(share::TOPIC_KEYWORDS).then(|| self.fields.topic(own));
        let near =
            (0..self.fields.places.len()).filter(|&field| topic.is_none_or(|topic| self.fields.topic(field) == topic));
        *near.collect::<Vec<_>>().choose(&mut self.rng).expect("there are fields")
    }

    fn choose_title(&mut self, method: &Method, keywords: &[&str], topic: usize) -> String {
        let template = method.titles.choose(&mut self.rng).expect("a method has titles");
        let place = self.fields.topics[topic].places.choose(&mut self.rng).expect("a topic has places");
        let at = if self.rng.random_bool(share::PLACES) { format!(" {place}") } else { String::new() };
        let (a, b) = (keywords[0], keywords[1]);
        template.replace("{A}", &capitalised(a)).replace("{a}", a).replace("{b}", b).replace("{at}", &at)
    }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The papers written so far, on a shelf for each field, each topic, and all.
struct Library<'a> {
    fields: &'a Fields,
    by_field: Vec<Shelf>,
    by_topic: Vec<Shelf>,
    all: Shelf,
}

impl<'a> Library<'a> {
    fn new(fields: &'a Fields) -> Self {
        let shelves = |count: usize| (0..count).map(|_| Shelf::default()).collect();
        Library {
            fields,
            by_field: shelves(fields.places.len()),
            by_topic: shelves(fields.topics.len()),
            all: Shelf::default(),
        }
    }

    /// Lets each paper in turn cite some of those before it.
    fn cite(mut self, papers: &[Paper], rng: &mut Xoshiro256PlusPlus) -> Vec<(usize, usize)> {
        let count = Poisson::new(MEAN_CITATIONS).expect("a positive mean");
        let popularity = LogNormal::new(0.0, POPULARITY_SPREAD).expect("a positive spread");
        let mut citations = Vec::new();
        for (source, paper) in papers.iter().enumerate() {
            let mut cited = HashSet::new();
            for _ in 0..count.sample(rng) as usize {
                let target = self.choose_shelf(paper, rng).choose(rng).or_else(|| self.all.choose(rng));
                citations.extend(target.filter(|&target| cited.insert(target)).map(|target| (source, target)));
            }
            self.add(source, paper, popularity.sample(rng));
        }
        citations
    }

    fn choose_shelf(&self, paper: &Paper, rng: &mut Xoshiro256PlusPlus) -> &Shelf {
        let field = *paper.fields.choose(rng).expect("a paper has a field");
        let mut choice: f64 = rng.random();
        let mut falls_to = |share: f64| {
            choice -= share;
            choice < 0.0
        };
        if falls_to(share::FIELD_CITATIONS) {
            return &self.by_field[field];
        }
        if falls_to(share::TOPIC_CITATIONS) {
            return &self.by_topic[self.fields.topic(field)];
        }
        if falls_to(share::KINDRED_CITATIONS) {
            return &self.by_field[self.fields.kindred.get(&field).copied().unwrap_or(field)];
        }
        &self.all
    }

    fn add(&mut self, number: usize, paper: &Paper, popularity: f64) {
        for &field in &paper.fields {
            self.by_field[field].add(number, popularity);
        }
        self.by_topic[self.fields.topic(paper.fields[0])].add(number, popularity);
        self.all.add(number, popularity);
    }
}

/// Papers that can be chosen by popularity.
#[derive(Default)]
struct Shelf {
    papers: Vec<usize>,
    /// The popularity of each paper and of those before it.
    cumulative: Vec<f64>,
}

impl Shelf {
    fn add(&mut self, paper: usize, popularity: f64) {
        self.papers.push(paper);
        self.cumulative.push(self.total() + popularity);
    }

    fn total(&self) -> f64 {
        self.cumulative.last().copied().unwrap_or(0.0)
    }

    fn choose(&self, rng: &mut Xoshiro256PlusPlus) -> Option<usize> {
        let mark = rng.random::<f64>() * self.total();
        let place = self.cumulative.partition_point(|&sum| sum <= mark);
        self.papers.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coldlink::load::{LoadOptions, load, load_new};

    fn exported(world: &World) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        world.export(folder.path()).unwrap();
        folder
    }

    fn texts(folder: &Path) -> Vec<String> {
        let names = ["nodes.csv", "edges.csv", "new-papers.csv", "README.txt"];
        names.iter().map(|name| fs::read_to_string(folder.join(name)).unwrap()).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_files() {
        let files = |seed| texts(exported(&World::generate(200, seed)).path());
        assert_eq!(files(1), files(1));
        assert_ne!(files(1)[..3], files(2)[..3]);
    }

    #[test]
    fn only_whole_files_are_left_in_the_folder() {
        let folder = exported(&World::generate(50, 0));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn every_paper_has_an_id_and_a_title_of_its_own() {
        let world = World::generate(500, 3);
        let papers = || world.papers.iter().chain(&world.new_papers);
        assert_eq!(papers().map(|paper| &paper.id).collect::<HashSet<_>>().len(), 500 + NEW_PAPERS);
        assert!(papers().map(|paper| &paper.title).collect::<HashSet<_>>().len() > 400);
        assert!(papers().all(|paper| !paper.title.is_empty() && !paper.title.contains(['{', '}'])));
    }

    #[test]
    fn papers_have_five_to_nine_different_keywords() {
        for paper in World::generate(500, 4).papers {
            let different = paper.keywords.iter().collect::<HashSet<_>>().len();
            assert!((5..=9).contains(&different) && different == paper.keywords.len(), "{:?}", paper.keywords);
        }
    }

    #[test]
    fn citations_go_to_older_papers_once() {
        let world = World::generate(1000, 5);
        assert!(world.citations.iter().all(|&(source, target)| target < source && source < 1000));
        assert_eq!(world.citations.iter().collect::<HashSet<_>>().len(), world.citations.len());
        assert!(world.papers.is_sorted_by_key(|paper| paper.year));
    }

    #[test]
    fn new_papers_are_not_in_the_graph() {
        let [nodes, edges, new, _] = texts(exported(&World::generate(300, 7)).path()).try_into().unwrap();
        assert_eq!(new.lines().count(), 1 + NEW_PAPERS);
        assert!(new.lines().skip(1).all(|row| row.starts_with("new-")));
        assert!(!nodes.contains("new-") && !edges.contains("new-"));
    }

    #[test]
    fn tiny_worlds_have_no_citations() {
        for papers in [0, 1] {
            assert!(World::generate(papers, 0).citations.is_empty());
        }
    }

    #[test]
    fn the_library_loads_what_was_exported() {
        let world = World::generate(1000, 6);
        let folder = exported(&world);
        let dataset = load(folder.path(), &LoadOptions { strict_input: true, ..LoadOptions::default() }).unwrap();
        let mean_degree = 2.0 * dataset.graph.links() as f64 / 1000.0;
        assert_eq!(dataset.graph.links(), world.citations.len());
        assert!((7.0..9.0).contains(&mean_degree), "{mean_degree}");
        let schema = dataset.schema.unwrap();
        let kinds: Vec<_> = schema.columns.iter().map(|column| column.kind.name()).collect();
        assert_eq!(kinds, ["text", "multi-valued", "categorical", "numeric"]);
        let new = load_new(&folder.path().join("new-papers.csv"), &schema, false).unwrap();
        assert_eq!((new.attributes.rows(), new.mismatches.unreadable), (NEW_PAPERS, 0));
    }
}
