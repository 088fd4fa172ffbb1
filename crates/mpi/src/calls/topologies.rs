//! Topologies (MPI 5.0, chapter 8).

use std::rc::Rc;

use super::{check_place, elements, give, give_elements};
use crate::abi::{self, Comm, Info};
use crate::communicator::split::Choice;
use crate::communicator::{Communicator, channel::tags};
use crate::error::{Result, fail};
use crate::group::Group;
use crate::rank::Rank;
use crate::topology::{Cartesian, DistGraph, Edge, Graph, Named, Topology, balanced};

/// A communicator of one group, to which a topology can be given.
fn plain(me: &Rank, comm: Comm) -> Result<Rc<Communicator>> {
    let found = me.comm(comm)?;
    if found.is_inter() {
        return fail(abi::ERR_COMM, "the communicator connects two groups: a topology wants one");
    }
    Ok(found)
}

fn cartesian(comm: &Communicator) -> Result<Cartesian> {
    match &*comm.topology.borrow() {
        Some(Topology::Cartesian(grid)) => Ok(grid.clone()),
        _ => fail(abi::ERR_TOPOLOGY, "the communicator has no Cartesian topology"),
    }
}

fn graph(comm: &Communicator) -> Result<Graph> {
    match &*comm.topology.borrow() {
        Some(Topology::Graph(graph)) => Ok(graph.clone()),
        _ => fail(abi::ERR_TOPOLOGY, "the communicator has no graph topology"),
    }
}

fn dist_graph(comm: &Communicator) -> Result<DistGraph> {
    match &*comm.topology.borrow() {
        Some(Topology::DistGraph(graph)) => Ok(graph.clone()),
        _ => fail(abi::ERR_TOPOLOGY, "the communicator has no distributed graph topology"),
    }
}

/// Checks a rank of a communicator.
fn rank_in(comm: &Communicator, rank: i32) -> Result<usize> {
    match usize::try_from(rank) {
        Ok(rank) if rank < comm.size() => Ok(rank),
        _ => fail(
            abi::ERR_RANK,
            format!("rank {rank} is not in the communicator, which has {} processes", comm.size()),
        ),
    }
}

/// The grid that a program describes, for which there must be processes enough.
fn described(comm: &Communicator, ndims: i32, dims: *const i32, periods: *const i32) -> Result<Cartesian> {
    if ndims < 0 {
        return fail(abi::ERR_DIMS, format!("the number of dimensions is {ndims}: it must not be negative"));
    }
    let dims = elements(ndims, dims, "dimensions")?;
    let periods = elements(ndims, periods, "periods")?.into_iter().map(|period| period != 0).collect();
    if let Some(place) = dims.iter().position(|dim| *dim <= 0) {
        return fail(
            abi::ERR_DIMS,
            format!("dimension {place} is {}: a grid has at least one process in each", dims[place]),
        );
    }
    let size = dims.iter().try_fold(1_usize, |size, dim| size.checked_mul(*dim as usize));
    if size.is_none_or(|size| size > comm.size()) {
        return fail(
            abi::ERR_DIMS,
            format!("a grid of {dims:?} needs more processes than the {} of the communicator", comm.size()),
        );
    }
    Ok(Cartesian { dims, periods })
}

/// Makes a communicator of the first so many processes, with a topology; `MPI_COMM_NULL` for the others.
fn give_first(me: &Rank, old: &Communicator, size: usize, topology: Topology, place: *mut Comm) -> Result {
    if old.rank >= size {
        return give(place, abi::COMM_NULL);
    }
    let made = me.make_intra(old, &Group::all(size), tags::CONTEXT)?;
    *made.topology.borrow_mut() = Some(topology);
    give(place, me.keep_comm(made))
}

pub fn cart_create(
    me: &Rank,
    comm_old: Comm,
    ndims: i32,
    dims: *const i32,
    periods: *const i32,
    reorder: i32,
    comm_cart: *mut Comm,
) -> Result {
    let old = plain(me, comm_old)?;
    give(comm_cart, abi::COMM_NULL)?;
    let grid = described(&old, ndims, dims, periods)?;
    me.check_described(&old, || {
        let periods = grid.periods.iter().map(|period| i64::from(*period)).collect();
        [
            ("dimensions", wide(&grid.dims)),
            ("periods", periods),
            ("flags to reorder", vec![i64::from(reorder != 0)]),
        ]
        .into()
    });
    give_first(me, &old, grid.size(), Topology::Cartesian(grid), comm_cart)
}

pub fn cart_sub(me: &Rank, comm: Comm, remain_dims: *const i32, newcomm: *mut Comm) -> Result {
    let old = me.comm(comm)?;
    let grid = cartesian(&old)?;
    check_place(newcomm)?;
    let remain = elements(grid.dims.len() as i32, remain_dims, "dimensions that remain")?;
    me.check_described(&old, || {
        vec![("dimensions that remain", remain.iter().map(|remains| i64::from(*remains != 0)).collect())]
    });
    let remain: Vec<bool> = remain.into_iter().map(|remains| remains != 0).collect();
    let (color, key) = grid.place_in_part(old.rank, &remain);
    let made = me.split(&old, &Group::all(old.size()), Choice { color: Some(color), key })?;
    let made = made.expect("all have a colour");
    *made.topology.borrow_mut() = Some(Topology::Cartesian(grid.part(&remain)));
    give(newcomm, me.keep_comm(made))
}

/// Checks that there is room for so many.
fn check_room(room: i32, wanted: usize, what: &str) -> Result {
    if i64::from(room) < wanted as i64 {
        return fail(abi::ERR_ARG, format!("there is room for {room} {what}, and there are {wanted}"));
    }
    Ok(())
}

pub fn cartdim_get(me: &Rank, comm: Comm, ndims: *mut i32) -> Result {
    give(ndims, cartesian(&*me.comm(comm)?)?.dims.len() as i32)
}

pub fn cart_get(
    me: &Rank,
    comm: Comm,
    maxdims: i32,
    dims: *mut i32,
    periods: *mut i32,
    coords: *mut i32,
) -> Result {
    let comm = me.comm(comm)?;
    let grid = cartesian(&comm)?;
    check_room(maxdims, grid.dims.len(), "dimensions")?;
    let rings: Vec<i32> = grid.periods.iter().map(|period| i32::from(*period)).collect();
    give_elements(dims, maxdims, &grid.dims)?;
    give_elements(periods, maxdims, &rings)?;
    give_elements(coords, maxdims, &grid.coords(comm.rank))
}

pub fn cart_rank(me: &Rank, comm: Comm, coords: *const i32, rank: *mut i32) -> Result {
    let grid = cartesian(&*me.comm(comm)?)?;
    let coords = elements(grid.dims.len() as i32, coords, "coordinates")?;
    match grid.rank(&coords) {
        Some(found) => give(rank, found as i32),
        None => fail(
            abi::ERR_ARG,
            format!("{coords:?} is outside of the grid of {:?}, which is no ring there", grid.dims),
        ),
    }
}

pub fn cart_coords(me: &Rank, comm: Comm, rank: i32, maxdims: i32, coords: *mut i32) -> Result {
    let comm = me.comm(comm)?;
    let grid = cartesian(&comm)?;
    check_room(maxdims, grid.dims.len(), "coordinates")?;
    give_elements(coords, maxdims, &grid.coords(rank_in(&comm, rank)?))
}

pub fn cart_shift(
    me: &Rank,
    comm: Comm,
    direction: i32,
    disp: i32,
    rank_source: *mut i32,
    rank_dest: *mut i32,
) -> Result {
    let comm = me.comm(comm)?;
    let grid = cartesian(&comm)?;
    let Some(direction) = usize::try_from(direction).ok().filter(|place| *place < grid.dims.len()) else {
        return fail(
            abi::ERR_ARG,
            format!("there is no dimension {direction}: the grid has {}", grid.dims.len()),
        );
    };
    let (source, dest) = grid.shift(comm.rank, direction, disp);
    give(rank_source, source)?;
    give(rank_dest, dest)
}

pub fn cart_map(
    me: &Rank,
    comm: Comm,
    ndims: i32,
    dims: *const i32,
    periods: *const i32,
    newrank: *mut i32,
) -> Result {
    let comm = plain(me, comm)?;
    let grid = described(&comm, ndims, dims, periods)?;
    give(newrank, if comm.rank < grid.size() { comm.rank as i32 } else { abi::UNDEFINED })
}

pub fn dims_create(_me: &Rank, nnodes: i32, ndims: i32, dims: *mut i32) -> Result {
    if nnodes <= 0 {
        return fail(abi::ERR_ARG, format!("the number of nodes is {nnodes}: it must be positive"));
    }
    if ndims < 0 {
        return fail(abi::ERR_DIMS, format!("the number of dimensions is {ndims}: it must not be negative"));
    }
    let mut chosen = elements(ndims, dims.cast_const(), "dimensions")?;
    if let Some(place) = chosen.iter().position(|dim| *dim < 0) {
        return fail(
            abi::ERR_DIMS,
            format!("dimension {place} is {}: it must not be negative", chosen[place]),
        );
    }
    let given = chosen.iter().filter(|dim| **dim > 0).try_fold(1_i64, |size, dim| {
        size.checked_mul(i64::from(*dim)).filter(|size| *size <= i64::from(nnodes))
    });
    let free = chosen.iter().filter(|dim| **dim == 0).count();
    let rest = match given {
        Some(given) if i64::from(nnodes) % given == 0 => i64::from(nnodes) / given,
        _ => {
            return fail(
                abi::ERR_DIMS,
                format!("{nnodes} nodes are no multiple of the dimensions that are given: {chosen:?}"),
            );
        }
    };
    if free == 0 && rest != 1 && ndims > 0 {
        return fail(abi::ERR_DIMS, format!("the dimensions {chosen:?} do not make {nnodes} nodes"));
    }
    let mut factors = balanced(rest as usize, free).into_iter();
    for dim in chosen.iter_mut().filter(|dim| **dim == 0) {
        *dim = factors.next().expect("there are as many") as i32;
    }
    give_elements(dims, ndims, &chosen)
}

/// Numbers as they are compared.
fn wide(numbers: &[i32]) -> Vec<i64> {
    numbers.iter().map(|number| i64::from(*number)).collect()
}

/// The graph that a program describes.
fn described_graph(comm: &Communicator, nnodes: i32, index: *const i32, edges: *const i32) -> Result<Graph> {
    if nnodes < 0 || nnodes as usize > comm.size() {
        return fail(
            abi::ERR_ARG,
            format!(
                "a graph of {nnodes} nodes does not fit the {} processes of the communicator",
                comm.size()
            ),
        );
    }
    let index = elements(nnodes, index, "indices")?;
    Graph::check(&index, &[])?;
    let edges = elements(index.last().copied().unwrap_or(0), edges, "edges")?;
    Graph::check(&index, &edges)?;
    Ok(Graph { index, edges })
}

pub fn graph_create(
    me: &Rank,
    comm_old: Comm,
    nnodes: i32,
    index: *const i32,
    edges: *const i32,
    reorder: i32,
    comm_graph: *mut Comm,
) -> Result {
    let old = plain(me, comm_old)?;
    check_place(comm_graph)?;
    let graph = described_graph(&old, nnodes, index, edges)?;
    me.check_described(&old, || {
        [
            ("indices", wide(&graph.index)),
            ("edges", wide(&graph.edges)),
            ("flags to reorder", vec![i64::from(reorder != 0)]),
        ]
        .into()
    });
    give_first(me, &old, nnodes as usize, Topology::Graph(graph), comm_graph)
}

pub fn graphdims_get(me: &Rank, comm: Comm, nnodes: *mut i32, nedges: *mut i32) -> Result {
    let graph = graph(&*me.comm(comm)?)?;
    give(nnodes, graph.index.len() as i32)?;
    give(nedges, graph.edges.len() as i32)
}

pub fn graph_get(
    me: &Rank,
    comm: Comm,
    maxindex: i32,
    maxedges: i32,
    index: *mut i32,
    edges: *mut i32,
) -> Result {
    let graph = graph(&*me.comm(comm)?)?;
    check_room(maxindex, graph.index.len(), "indices")?;
    check_room(maxedges, graph.edges.len(), "edges")?;
    give_elements(index, maxindex, &graph.index)?;
    give_elements(edges, maxedges, &graph.edges)
}

pub fn graph_neighbors_count(me: &Rank, comm: Comm, rank: i32, nneighbors: *mut i32) -> Result {
    let comm = me.comm(comm)?;
    let graph = graph(&comm)?;
    give(nneighbors, graph.neighbors(rank_in(&comm, rank)?).len() as i32)
}

pub fn graph_neighbors(me: &Rank, comm: Comm, rank: i32, maxneighbors: i32, neighbors: *mut i32) -> Result {
    let comm = me.comm(comm)?;
    let graph = graph(&comm)?;
    give_elements(neighbors, maxneighbors, graph.neighbors(rank_in(&comm, rank)?))
}

pub fn graph_map(
    me: &Rank,
    comm: Comm,
    nnodes: i32,
    index: *const i32,
    edges: *const i32,
    newrank: *mut i32,
) -> Result {
    let comm = plain(me, comm)?;
    described_graph(&comm, nnodes, index, edges)?;
    give(newrank, if comm.rank < nnodes as usize { comm.rank as i32 } else { abi::UNDEFINED })
}

/// Whether an array of weights is one.
fn is_weighted(weights: *const i32) -> bool {
    weights.addr() != abi::UNWEIGHTED
}

/// The weights of so many edges; 1 each where there are none.
fn weights_of(count: i32, weights: *const i32) -> Result<Vec<i32>> {
    if !is_weighted(weights) || weights.addr() == abi::WEIGHTS_EMPTY {
        return Ok(vec![1; usize::try_from(count).unwrap_or(0)]);
    }
    let weights = elements(count, weights, "weights")?;
    if let Some(weight) = weights.iter().find(|weight| **weight < 0) {
        return fail(abi::ERR_ARG, format!("a weight is {weight}: it must not be negative"));
    }
    Ok(weights)
}

/// Edges to ranks of a communicator.
fn edges_of(comm: &Communicator, count: i32, ranks: *const i32, weights: *const i32) -> Result<Vec<Edge>> {
    let ranks = elements(count, ranks, "neighbours")?;
    for rank in &ranks {
        rank_in(comm, *rank)?;
    }
    let weights = weights_of(count, weights)?;
    Ok(ranks.into_iter().zip(weights).map(|(rank, weight)| Edge { rank, weight }).collect())
}

pub fn dist_graph_create_adjacent(
    me: &Rank,
    comm_old: Comm,
    indegree: i32,
    sources: *const i32,
    sourceweights: *const i32,
    outdegree: i32,
    destinations: *const i32,
    destweights: *const i32,
    info: Info,
    reorder: i32,
    comm_dist_graph: *mut Comm,
) -> Result {
    let old = plain(me, comm_old)?;
    check_place(comm_dist_graph)?;
    me.hints(info)?;
    let graph = DistGraph {
        sources: edges_of(&old, indegree, sources, sourceweights)?,
        destinations: edges_of(&old, outdegree, destinations, destweights)?,
        weighted: is_weighted(sourceweights) && is_weighted(destweights),
    };
    // Who has no edges may say either.
    let told = |degree: i32, weights| (degree > 0).then(|| is_weighted(weights));
    let weighted = [told(indegree, sourceweights), told(outdegree, destweights)];
    me.check_edges(&old, &graph, weighted, reorder != 0);
    let made = me.duplicate(&old)?;
    *made.topology.borrow_mut() = Some(Topology::DistGraph(graph));
    give(comm_dist_graph, me.keep_comm(made))
}

pub fn dist_graph_create(
    me: &Rank,
    comm_old: Comm,
    n: i32,
    sources: *const i32,
    degrees: *const i32,
    destinations: *const i32,
    weights: *const i32,
    info: Info,
    _reorder: i32,
    comm_dist_graph: *mut Comm,
) -> Result {
    let old = plain(me, comm_old)?;
    check_place(comm_dist_graph)?;
    me.hints(info)?;
    let degrees = elements(n, degrees, "degrees")?;
    if let Some(degree) = degrees.iter().find(|degree| **degree < 0) {
        return fail(abi::ERR_ARG, format!("a degree is {degree}: it must not be negative"));
    }
    let total = degrees.iter().sum::<i32>();
    let sources = edges_of(&old, n, sources, std::ptr::without_provenance(abi::UNWEIGHTED))?;
    let destinations = edges_of(&old, total, destinations, weights)?;
    let mut ends = destinations.into_iter();
    let mut named = Vec::with_capacity(total as usize);
    for (source, degree) in sources.iter().zip(&degrees) {
        for end in ends.by_ref().take(*degree as usize) {
            named.push(Named { source: source.rank, destination: end.rank, weight: end.weight });
        }
    }
    let graph = me.share_edges(&old, &named, is_weighted(weights))?;
    let made = me.duplicate(&old)?;
    *made.topology.borrow_mut() = Some(Topology::DistGraph(graph));
    give(comm_dist_graph, me.keep_comm(made))
}

pub fn dist_graph_neighbors_count(
    me: &Rank,
    comm: Comm,
    indegree: *mut i32,
    outdegree: *mut i32,
    weighted: *mut i32,
) -> Result {
    let graph = dist_graph(&*me.comm(comm)?)?;
    give(indegree, graph.sources.len() as i32)?;
    give(outdegree, graph.destinations.len() as i32)?;
    give(weighted, i32::from(graph.weighted))
}

pub fn dist_graph_neighbors(
    me: &Rank,
    comm: Comm,
    maxindegree: i32,
    sources: *mut i32,
    sourceweights: *mut i32,
    maxoutdegree: i32,
    destinations: *mut i32,
    destweights: *mut i32,
) -> Result {
    let graph = dist_graph(&*me.comm(comm)?)?;
    let write = |edges: &[Edge], room: i32, ranks: *mut i32, weights: *mut i32| -> Result {
        let both: (Vec<i32>, Vec<i32>) = edges.iter().map(|edge| (edge.rank, edge.weight)).unzip();
        give_elements(ranks, room, &both.0)?;
        let wanted = is_weighted(weights) && weights.addr() != abi::WEIGHTS_EMPTY;
        if graph.weighted && wanted { give_elements(weights, room, &both.1) } else { Ok(()) }
    };
    write(&graph.sources, maxindegree, sources, sourceweights)?;
    write(&graph.destinations, maxoutdegree, destinations, destweights)
}

pub fn topo_test(me: &Rank, comm: Comm, status: *mut i32) -> Result {
    let comm = me.comm(comm)?;
    let kind = match &*comm.topology.borrow() {
        None => abi::UNDEFINED,
        Some(Topology::Cartesian(_)) => abi::CART,
        Some(Topology::Graph(_)) => abi::GRAPH,
        Some(Topology::DistGraph(_)) => abi::DIST_GRAPH,
    };
    give(status, kind)
}
