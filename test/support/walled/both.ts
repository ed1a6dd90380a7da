import { z } from "zod";
import type { SessionHost } from "../../../src/environment-session/session.ts";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { offeredDefinition } from "../../../src/environments/definition/offered.ts";
import type { HostedEnvironment } from "../../../src/environments/hosted/hosted-environment.ts";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { runUnit, type UnitOptions, type UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import type { Message } from "../../../src/rollouts/types.ts";
import { memoryDatasets } from "../environments/memory-datasets.ts";
import { EXAMPLE, type Scripted, timelessLine, unitOptions } from "./units.ts";
import { walled } from "./walled.ts";

export const dataset = [{ question: "2+2", answer: "4" }];
export const textOf = (messages: readonly Message[]): string => String(messages.at(-1)?.content ?? "");
export const right = { name: "right", fn: ({ completion, answer }: { completion: readonly Message[]; answer: unknown }) => textOf(completion) === answer };
export const context = { datasets: memoryDatasets("") };

export const define = (load: () => Environment) => defineEnvironment({ id: "env", version: "1", description: "", args: z.object({}), load });

/** Both kinds of the same environment. */
export async function both(load: () => Environment, host: SessionHost = {}): Promise<readonly [HostedEnvironment, HostedEnvironment]> {
  const definition = define(load);
  return [await offeredDefinition(definition).load({}, context), await walled(definition, {}, host).offered.load({}, context)];
}

export const run = (hosted: HostedEnvironment, client: Scripted, count: number, fields: Partial<UnitOptions>): Promise<UnitOutcome> =>
  runUnit(hosted, EXAMPLE, unitOptions(client, count, fields));
export const lines = ({ lines: all }: Pick<UnitOutcome, "lines">): string[] => all.map(timelessLine);
