/** Where each worker's cell lies: node by node, in as many columns as there is room for. Pure. */

export const CELL_PX = 14;
export const PITCH_PX = 16;
export const NAME_PX = 16;
const GAP_PX = 12;
const NODE_PX = 96;
const BESIDE_PX = 2;

interface Placed {
  rank: number;
  node: string;
}

export interface Group {
  node: string;
  x: number;
  y: number;
  /** Of its first cell in the order of the layout, and of the one behind its last. */
  from: number;
  to: number;
}

export interface Layout {
  groups: readonly Group[];
  /** Index of a worker in what was given, in the order in which cells are drawn. */
  order: readonly number[];
  /** By the place in that order. */
  x: Float32Array;
  y: Float32Array;
  groupPx: number;
  height: number;
}

export function layoutOf(workers: readonly Placed[], width: number): Layout {
  const nodes = byNode(workers);
  const most = Math.max(1, ...nodes.map(([, members]) => members.length));
  const perRow = Math.max(1, Math.min(most, Math.floor((width - BESIDE_PX) / PITCH_PX)));
  const groupPx = Math.max(NODE_PX, perRow * PITCH_PX);
  const columns = Math.max(1, Math.floor((width + GAP_PX) / (groupPx + GAP_PX)));
  const rowPx = NAME_PX + Math.ceil(most / perRow) * PITCH_PX + GAP_PX / 2;
  const x = new Float32Array(workers.length);
  const y = new Float32Array(workers.length);
  const order: number[] = [];
  const groups = nodes.map(([node, members], index): Group => {
    const left = BESIDE_PX + (index % columns) * (groupPx + GAP_PX);
    const top = Math.floor(index / columns) * rowPx;
    const from = order.length;
    members.forEach((member, at) => {
      x[order.length] = left + (at % perRow) * PITCH_PX;
      y[order.length] = top + NAME_PX + Math.floor(at / perRow) * PITCH_PX;
      order.push(member);
    });
    return { node, x: left, y: top, from, to: order.length };
  });
  return { groups, order, x, y, groupPx, height: Math.ceil(nodes.length / columns) * rowPx };
}

/** In the order in which they first come. */
function byNode(workers: readonly Placed[]): [string, number[]][] {
  const nodes = new Map<string, number[]>();
  workers.forEach(({ node }, index) => {
    const members = nodes.get(node);
    if (members) members.push(index);
    else nodes.set(node, [index]);
  });
  return [...nodes];
}

/** The place of the cell at a point; -1: none is there. The gap beside a cell belongs to it. */
export function placeAt({ x, y }: Layout, atX: number, atY: number): number {
  return x.findIndex((left, place) => {
    const top = y[place] as number;
    return atX >= left - 1 && atX < left + PITCH_PX - 1 && atY >= top - 1 && atY < top + PITCH_PX - 1;
  });
}

/** Where a key leads from a place. Null: it is no key of the grid. */
export function placeAfter(layout: Layout, key: string, from: number): number | null {
  const last = layout.order.length - 1;
  if (last < 0) return null;
  switch (key) {
    case "ArrowRight":
      return Math.min(last, from + 1);
    case "ArrowLeft":
      return Math.max(0, from - 1);
    case "ArrowDown":
      return inNextLine(layout, from, 1);
    case "ArrowUp":
      return inNextLine(layout, from, -1);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}

/** Of the nearest line of cells above or below, the cell that is nearest to the side. */
function inNextLine({ x, y }: Layout, from: number, way: 1 | -1): number {
  const [left, top] = [x[from] as number, y[from] as number];
  let best = from;
  let least = Infinity;
  for (let place = 0; place < x.length; place += 1) {
    const down = ((y[place] as number) - top) * way;
    if (down <= 0) continue;
    const distance = down * 10_000 + Math.abs((x[place] as number) - left);
    if (distance < least) [best, least] = [place, distance];
  }
  return best;
}
