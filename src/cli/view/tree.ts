/** Runs below their models below their environments. Pure. */
import type { FoundRun } from "./find-runs.ts";

export type TreeNode =
  | { readonly kind: "env"; readonly key: string; readonly name: string; readonly runs: readonly FoundRun[]; readonly models: readonly ModelNode[] }
  | ModelNode
  | { readonly kind: "run"; readonly key: string; readonly run: FoundRun };

export interface ModelNode {
  readonly kind: "model";
  readonly key: string;
  readonly name: string;
  readonly runs: readonly FoundRun[];
}

/** Environments in the order of the runs. */
export function treeOf(runs: readonly FoundRun[]): readonly Extract<TreeNode, { kind: "env" }>[] {
  return [...groupBy(runs, ({ envId }) => envId)].map(([name, own]) => ({
    kind: "env",
    key: `env ${name}`,
    name,
    runs: own,
    models: [...groupBy(own, ({ model }) => model)].map(([model, ofModel]) => ({ kind: "model", key: `model ${name}\n${model}`, name: model, runs: ofModel })),
  }));
}

/** The nodes that are to be seen, from top to bottom. */
export function openNodes(tree: ReturnType<typeof treeOf>, open: ReadonlySet<string>): readonly TreeNode[] {
  return tree.flatMap((env) => [
    env,
    ...(open.has(env.key) ? env.models.flatMap((model): readonly TreeNode[] => [model, ...(open.has(model.key) ? model.runs.map(runNode) : [])]) : []),
  ]);
}

const runNode = (run: FoundRun): TreeNode => ({ kind: "run", key: `run ${run.path}`, run });

/** The place of the node above, in `nodes`; its own where there is none. */
export function parentOf(nodes: readonly TreeNode[], at: number): number {
  const kind = nodes[at]?.kind;
  const wanted = kind === "run" ? "model" : kind === "model" ? "env" : null;
  const found = wanted === null ? -1 : nodes.slice(0, at).findLastIndex((node) => node.kind === wanted);
  return found < 0 ? at : found;
}

function groupBy(runs: readonly FoundRun[], nameOf: (run: FoundRun) => string): ReadonlyMap<string, FoundRun[]> {
  const groups = new Map<string, FoundRun[]>();
  for (const run of runs) {
    const own = groups.get(nameOf(run));
    if (own === undefined) groups.set(nameOf(run), [run]);
    else own.push(run);
  }
  return groups;
}
