//! Shortest-path distances between nodes, for the weights of unlinked pairs (Eq. 6).
