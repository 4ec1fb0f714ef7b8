//! Links and names in files, used from the mapped file without a copy.

use super::{Graph, Names, Texts};
use crate::storage::{Container, ContainerWriter, FileError};

impl<'a> ContainerWriter<'a> {
    /// Adds the links of a graph under a name, with what they carry.
    pub fn links(&mut self, name: &str, graph: &'a Graph) {
        self.list(format!("{name}.offsets"), graph.offsets());
        self.list(format!("{name}.neighbors"), graph.neighbor_array());
        if let Some(weights) = graph.weights() {
            self.list(format!("{name}.weights"), weights);
        }
        if let Some(times) = graph.times() {
            self.list(format!("{name}.times"), times);
        }
    }

    /// Adds texts under a name.
    pub fn texts(&mut self, name: &str, texts: &'a Texts) {
        let (offsets, bytes) = texts.arrays();
        self.list(format!("{name}.offsets"), offsets);
        self.list(format!("{name}.bytes"), bytes);
    }

    /// Adds the names of nodes, where they are more than numbers.
    pub fn names(&mut self, names: &'a Names) {
        if let Names::Texts(texts) = names {
            self.texts("names", texts);
        }
    }
}

impl Container {
    /// The links of a graph under a name, with what they carry.
    pub fn links(&self, name: &str) -> Result<Graph, FileError> {
        let list = |part: &str| format!("{name}.{part}");
        let graph = Graph::from_parts(self.list(&list("offsets"))?, self.list(&list("neighbors"))?);
        let weights = self.list_if_there(&list("weights"))?;
        let times = self.list_if_there(&list("times"))?;
        let graph = graph.and_then(|graph| graph.with_arrays(weights, times));
        graph.map_err(|reason| self.inconsistent(format!("{name}: {reason}")))
    }

    /// The texts under a name.
    pub fn texts(&self, name: &str) -> Result<Texts, FileError> {
        let texts = Texts::from_parts(self.list(&format!("{name}.offsets"))?, self.list(&format!("{name}.bytes"))?);
        texts.map_err(|reason| self.inconsistent(format!("{name}: {reason}")))
    }

    /// The texts under a name of that many nodes, where the file has any.
    pub fn texts_if_there(&self, name: &str, nodes: usize) -> Result<Option<Texts>, FileError> {
        if !self.has(&format!("{name}.offsets")) {
            return Ok(None);
        }
        let texts = self.texts(name)?;
        if texts.len() == nodes {
            Ok(Some(texts))
        } else {
            Err(self.inconsistent(format!("{nodes} nodes, but {} {name}", texts.len())))
        }
    }

    /// The names of that many nodes, or their numbers where the file has no names.
    pub fn names(&self, nodes: usize) -> Result<Names, FileError> {
        let names = if self.has("names.offsets") { Names::Texts(self.texts("names")?) } else { Names::Numbered(nodes) };
        if names.len() != nodes {
            return Err(self.inconsistent(format!("{nodes} nodes, but {} names", names.len())));
        }
        Ok(names)
    }
}
