//! Where to put boxes of different sizes that lines join: springs and repulsion from several starts (after Fruchterman
//! and Reingold, "Graph Drawing by Force-directed Placement", 1991), then pushing apart what still overlaps; the
//! start that crosses least, drawn together as far as that helps, is kept. No randomness: the same graph always gives the same places.

/// Between any two boxes.
const MARGIN: f64 = 46.0;

/// More lines than this are seen as a whole, not one by one.
pub(super) const DENSE: usize = 80;

/// The centres of boxes of these sizes. Lines have words of a width on them, for which there should be room.
pub(super) fn layout(sizes: &[(f64, f64)], edges: &[(usize, usize)], words: &[f64]) -> Vec<(f64, f64)> {
    let mut gaps = vec![MARGIN; sizes.len() * sizes.len()];
    for (&(a, b), width) in edges.iter().zip(words) {
        let gap = (width + 14.0).max(MARGIN);
        gaps[a * sizes.len() + b] = gap;
        gaps[b * sizes.len() + a] = gap;
    }
    let gaps = &gaps;
    let mut best: Option<(f64, Vec<(f64, f64)>)> = None;
    // A dense graph is a ring and nothing else.
    let starts = if edges.len() > DENSE { 1 } else { 12 };
    for start in 0..starts {
        let mut places = ring(sizes, &order(sizes.len(), edges, start / 2));
        // A ring as it is shows dense graphs best: no line goes under a box.
        if start % 2 == 1 {
            relax(sizes, edges, &mut places);
        }
        separate(sizes, gaps, &mut places);
        for _ in 0..25 {
            let cost = cost(sizes, edges, &places);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, places.clone()));
            }
            if start % 2 == 0 {
                break;
            }
            for place in &mut places {
                *place = (place.0 * 0.94, place.1 * 0.94);
            }
            separate(sizes, gaps, &mut places);
        }
    }
    best.map(|(_, places)| places).unwrap_or_default()
}

/// The order of the boxes on the first ring: as given, along the edges, then shuffled by a fixed rule.
fn order(count: usize, edges: &[(usize, usize)], start: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    match start {
        0 => {}
        1 => {
            let mut seen = vec![false; count];
            order.clear();
            for root in 0..count {
                visit(root, edges, &mut seen, &mut order);
            }
        }
        _ => {
            let mut state = start as u64;
            for at in (1..count).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                order.swap(at, (state >> 33) as usize % (at + 1));
            }
        }
    }
    order
}

fn visit(root: usize, edges: &[(usize, usize)], seen: &mut [bool], order: &mut Vec<usize>) {
    let mut stack = vec![root];
    while let Some(at) = stack.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        order.push(at);
        for &(a, b) in edges.iter().rev() {
            stack.extend(if a == at {
                Some(b)
            } else if b == at {
                Some(a)
            } else {
                None
            });
        }
    }
}

fn ring(sizes: &[(f64, f64)], order: &[usize]) -> Vec<(f64, f64)> {
    let around: f64 = sizes.iter().map(|size| size.0.max(size.1) + MARGIN).sum();
    let radius = around / std::f64::consts::TAU;
    let mut places = vec![(0.0, 0.0); sizes.len()];
    // Starting on the left puts the two boxes of a pair side by side.
    let mut angle = std::f64::consts::PI;
    for &node in order {
        places[node] = (1.3 * radius * angle.cos(), radius * angle.sin());
        angle += std::f64::consts::TAU * (sizes[node].0.max(sizes[node].1) + MARGIN) / around;
    }
    places
}

fn relax(sizes: &[(f64, f64)], edges: &[(usize, usize)], places: &mut [(f64, f64)]) {
    let count = sizes.len();
    let reach = |node: usize| (sizes[node].0 + sizes[node].1) / 4.0 + MARGIN / 2.0;
    let rounds = if count > 30 { 150 } else { 300 };
    for round in 0..rounds {
        let mut moves = vec![(0.0_f64, 0.0_f64); count];
        for a in 0..count {
            for b in a + 1..count {
                let (dx, dy, distance) = away(places[a], places[b], a);
                let ideal = reach(a) + reach(b);
                let force = ideal * ideal / distance * 0.6;
                push(&mut moves, a, b, (dx / distance * force, dy / distance * force));
            }
        }
        for &(a, b) in edges {
            let (dx, dy, distance) = away(places[a], places[b], a);
            let ideal = reach(a) + reach(b);
            let force = -(distance * distance / ideal) * 0.6;
            push(&mut moves, a, b, (dx / distance * force, dy / distance * force));
        }
        let step = 60.0 * (1.0 - f64::from(round) / f64::from(rounds)) + 0.5;
        for (place, (dx, dy)) in places.iter_mut().zip(moves) {
            // A weak pull to the middle keeps parts together that no line joins; stronger upwards, as pages are wide.
            let (dx, dy) = (dx - place.0 * 0.05, dy - place.1 * 0.09);
            let length = dx.hypot(dy).max(1e-9);
            let scale = length.min(step) / length;
            place.0 += dx * scale;
            place.1 += dy * scale;
        }
    }
}

fn push(moves: &mut [(f64, f64)], a: usize, b: usize, force: (f64, f64)) {
    moves[a].0 += force.0;
    moves[a].1 += force.1;
    moves[b].0 -= force.0;
    moves[b].1 -= force.1;
}

/// From the second to the first; never zero.
fn away(a: (f64, f64), b: (f64, f64), tie: usize) -> (f64, f64, f64) {
    let (mut dx, mut dy) = (a.0 - b.0, a.1 - b.1);
    if dx.abs() + dy.abs() < 1e-6 {
        (dx, dy) = (1.0, (tie as f64 + 1.0).sin());
    }
    (dx, dy, dx.hypot(dy).max(1.0))
}

/// Pushes overlapping boxes apart, along the shorter way out.
fn separate(sizes: &[(f64, f64)], gaps: &[f64], places: &mut [(f64, f64)]) {
    for _ in 0..500 {
        let mut moved = false;
        for a in 0..sizes.len() {
            for b in a + 1..sizes.len() {
                let (dx, dy) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
                let out_x = (sizes[a].0 + sizes[b].0) / 2.0 + gaps[a * sizes.len() + b] - dx.abs();
                let out_y = (sizes[a].1 + sizes[b].1) / 2.0 + MARGIN * 0.8 - dy.abs();
                if out_x <= 0.1 || out_y <= 0.1 {
                    continue;
                }
                moved = true;
                if out_x < out_y {
                    let shift = (out_x / 2.0 + 0.1) * if dx < 0.0 { -1.0 } else { 1.0 };
                    places[a].0 += shift;
                    places[b].0 -= shift;
                } else {
                    let shift = (out_y / 2.0 + 0.1) * if dy < 0.0 { -1.0 } else { 1.0 };
                    places[a].1 += shift;
                    places[b].1 -= shift;
                }
            }
        }
        if !moved {
            break;
        }
    }
}

/// Crossing lines, lines under boxes, length and area: what makes a drawing hard to read.
fn cost(sizes: &[(f64, f64)], edges: &[(usize, usize)], places: &[(f64, f64)]) -> f64 {
    let mut cost = 0.0;
    for (at, &(a, b)) in edges.iter().enumerate() {
        for &(c, d) in &edges[at + 1..] {
            if a != c && a != d && b != c && b != d && cross(places[a], places[b], places[c], places[d]) {
                cost += 70.0;
            }
        }
        for node in (0..sizes.len()).filter(|&node| node != a && node != b) {
            if passes(places[a], places[b], places[node], sizes[node]) {
                cost += 2500.0;
            }
        }
        cost += (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1) * 0.5;
    }
    let (width, height) = extent(sizes, places);
    cost + width * 0.6 + height
}

fn cross(a: (f64, f64), b: (f64, f64), c: (f64, f64), d: (f64, f64)) -> bool {
    let side = |p: (f64, f64), q: (f64, f64), r: (f64, f64)| {
        (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0) > 0.0
    };
    side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
}

/// Whether a line goes through a box.
fn passes(a: (f64, f64), b: (f64, f64), centre: (f64, f64), size: (f64, f64)) -> bool {
    (1..20).any(|at| {
        let t = f64::from(at) / 20.0;
        let (x, y) = (a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t);
        (x - centre.0).abs() < size.0 / 2.0 + 4.0 && (y - centre.1).abs() < size.1 / 2.0 + 4.0
    })
}

fn extent(sizes: &[(f64, f64)], places: &[(f64, f64)]) -> (f64, f64) {
    let (mut low, mut high) = ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    for (size, place) in sizes.iter().zip(places) {
        low = (low.0.min(place.0 - size.0 / 2.0), low.1.min(place.1 - size.1 / 2.0));
        high = (high.0.max(place.0 + size.0 / 2.0), high.1.max(place.1 + size.1 / 2.0));
    }
    (high.0 - low.0, high.1 - low.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_never_overlap() {
        let sizes: Vec<(f64, f64)> =
            (0..25).map(|i| (60.0 + f64::from(i * 37 % 300), 30.0 + f64::from(i * 53 % 200))).collect();
        let edges: Vec<(usize, usize)> = (1..25).map(|i| (i, i / 2)).collect();
        let places = layout(&sizes, &edges, &[80.0; 24]);
        for a in 0..25 {
            for b in a + 1..25 {
                let apart_x = (places[a].0 - places[b].0).abs() >= (sizes[a].0 + sizes[b].0) / 2.0;
                let apart_y = (places[a].1 - places[b].1).abs() >= (sizes[a].1 + sizes[b].1) / 2.0;
                assert!(apart_x || apart_y, "{a} and {b}");
            }
        }
    }
}
