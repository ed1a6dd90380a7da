import { BUILT_CODE } from "../definition/built-code.ts";
import type { EnvironmentDefinition } from "../definition/definition.ts";
import { alphabetSort } from "./alphabet-sort/alphabet-sort.ts";
import { arithmetic } from "./arithmetic/arithmetic.ts";
import { benchmark } from "./benchmark/benchmark.ts";
import { EVALUATIONS } from "./evaluations/evaluations.ts";
import { gsm8k } from "./gsm8k/gsm8k.ts";
import { humaneval } from "./humaneval/humaneval.ts";
import { math500 } from "./math500/math500.ts";
import { openenv } from "./openenv/openenv.ts";
import { pythonMath } from "./python-math/python-math.ts";
import { reverseText } from "./reverse-text/reverse-text.ts";
import { toolTest } from "./tool-test/tool-test.ts";
import { truthfulqaMc } from "./truthfulqa-mc/truthfulqa-mc.ts";
import { wordle } from "./wordle/wordle.ts";

const ALONE: readonly EnvironmentDefinition[] = [
  alphabetSort,
  arithmetic,
  benchmark,
  gsm8k,
  humaneval,
  math500,
  openenv,
  pythonMath,
  reverseText,
  toolTest,
  truthfulqaMc,
  wordle,
];

/** Environments that are made of one room's code, by the room's name. */
export const FAMILIES: Readonly<Record<string, readonly EnvironmentDefinition[]>> = { evaluations: EVALUATIONS };

const madeOf = (definition: EnvironmentDefinition, room: string): EnvironmentDefinition =>
  Object.freeze({ ...definition, source: BUILT_CODE?.bundled[room] ?? definition.source });

/** Every environment that comes with the package, by id. Isolates of other environments have none of them (tools/isolate-library.ts). */
export const BUNDLED: readonly EnvironmentDefinition[] = [
  ...ALONE.map((definition) => madeOf(definition, definition.id)),
  ...Object.entries(FAMILIES).flatMap(([room, definitions]) => definitions.map((definition) => madeOf(definition, room))),
].sort((a, b) => (a.id < b.id ? -1 : 1));
