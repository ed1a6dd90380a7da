import type { DescribedEnvironment, LinkList } from "./answers.ts";
import { hubPath } from "./environment-paths.ts";
import type { Problem } from "./problem.ts";
import { useAnswer } from "./use-answer.ts";

/** An environment as a creation would find it under its name. */
export interface UsedEnvironment {
  /** What the team has linked under the name, which goes before whatever else is called so. */
  readonly linked: LinkList["data"][number] | null;
  /** Null until it is known, and where it is linked. */
  readonly found: DescribedEnvironment | null;
  readonly problem: Problem | null;
  readonly again: () => void;
}

/** `reference` "": none. `version`: `latest` or one of its versions. */
export function useEnvironment(reference: string, version: string): UsedEnvironment {
  const links = useAnswer<LinkList>("/environments/linked");
  const linked = links.value?.data.find(({ name, command }) => name === reference && command === null) ?? null;
  const isKnown = links.value !== null || links.problem !== null;
  const { value, problem, again } = useAnswer<DescribedEnvironment>(reference !== "" && isKnown && linked === null ? hubPath(reference, version) : null);
  return { linked, found: value, problem, again };
}
