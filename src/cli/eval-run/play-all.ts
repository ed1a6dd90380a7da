/** All runs of a command side by side, and what each came to. */
import { randomBytes } from "node:crypto";
import { type CommonPart, groupId, partOf, type SharingGroup, sharingGroups } from "../../endpoint-limits/common-limit.ts";
import type { LocalDataset } from "../datasets/dataset-upload.ts";
import type { RunProgress, RunsDisplay } from "../display/runs-display.ts";
import { Interrupted } from "../terminal/interrupts.ts";
import { sharingOf } from "./common-limit.ts";
import { type PlayedRun, type RunPlay, Suspended } from "./run-play.ts";

/** What one evaluation came to. */
export interface Outcome {
  readonly play: RunPlay;
  /** Null: an error ended it. */
  readonly played: PlayedRun | null;
  readonly error: unknown;
}

/**
 * Plays all runs side by side. One that fails does not stop the others; an interruption stops all. With a common limit (`total`) those that share a Limiter
 * have their part of it together; where there are more endpoints than places, those for which nothing is left wait for the place of others that have ended.
 */
export async function playAll(
  total: number | null,
  plays: readonly RunPlay[],
  datasets: readonly (LocalDataset | null)[],
  display: RunsDisplay,
): Promise<readonly Outcome[]> {
  const outcomes = new Map<number, Outcome>();
  const one = async (index: number, part: CommonPart | null): Promise<void> => {
    outcomes.set(index, await playOne(plays[index], datasets[index] ?? null, part, display.run(index)));
  };
  const lanes = total === null ? plays.map((_, index) => one(index, null)) : lanesWithin(total, plays, one);
  const stopped = (await Promise.allSettled(lanes)).find((lane) => lane.status === "rejected");
  if (stopped !== undefined) throw stopped.reason;
  return plays.flatMap((_, index) => outcomes.get(index) ?? []);
}

function lanesWithin(total: number, plays: readonly RunPlay[], one: (index: number, part: CommonPart) => Promise<void>): readonly Promise<void>[] {
  const sharing = sharingOf(plays.map(({ wish }) => wish));
  const groups = sharingGroups(total, sharing);
  const command = randomBytes(8).toString("hex");
  const together = async (group: SharingGroup, part: number): Promise<void> => {
    const id = groupId(command, groups.indexOf(group));
    const played = await Promise.allSettled(group.members.map((index) => one(index, partOf(group, part, sharing[index]?.most ?? part, id))));
    for (const each of played) if (each.status === "rejected") throw each.reason;
  };
  const waiting = groups.filter(({ part }) => part === 0);
  return groups
    .filter(({ part }) => part > 0)
    .map(async (first) => {
      // Where any group waits, each of the others has one place.
      for (let group: SharingGroup | undefined = first; group !== undefined; group = waiting.shift()) await together(group, first.part);
    });
}

async function playOne(play: RunPlay | undefined, dataset: LocalDataset | null, part: CommonPart | null, progress: RunProgress): Promise<Outcome> {
  if (play === undefined) throw new RangeError("there is no such evaluation");
  try {
    const played = await play.play(dataset, part);
    progress.ended(played.completed ? "COMPLETED" : played.evaluation.status);
    return { play, played, error: null };
  } catch (error) {
    // Another command may suspend one of several runs; the others go on.
    if (error instanceof Interrupted && !(error instanceof Suspended)) throw error;
    await play.leave();
    progress.ended(error instanceof Suspended ? "SUSPENDED" : "failed");
    return { play, played: null, error };
  }
}
