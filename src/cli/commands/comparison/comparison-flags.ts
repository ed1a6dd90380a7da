/** Flags that all commands have which hold runs against each other. */
import { InvalidArgumentError, Option } from "commander";
import { flagOf } from "../../command-line/flags.ts";
import { USUAL_ALPHA } from "../../../metrics/comparison/power.ts";

export type ReportForm = "table" | "json" | "markdown";

export const reportOption = (): Option =>
  new Option("-o, --output <FORMAT>", "table for people, json for programs, markdown for pages").choices(["table", "json", "markdown"]).default("table");

export const clusterOption = (): Option => flagOf("cluster_by");

export const unpairedOption = (): Option => new Option("--unpaired", "compare runs over different examples, as two samples").default(false);

export const acceptedOption = (): Option =>
  new Option("--accept-code-change", "the runs were scored by other code, or another environment, which is known to score the same").default(false);

export const alphaOption = (help: string): Option =>
  new Option("--alpha <SHARE>", help).default(USUAL_ALPHA).argParser(numberWithin("above 0 and at most 0.5", (alpha) => alpha > 0 && alpha <= 0.5));

/** Reads a number; `rule`: what it must be, in words. */
export const numberWithin =
  (rule: string, holds: (value: number) => boolean) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isFinite(value) && holds(value)) return value;
    throw new InvalidArgumentError(`must be a number ${rule}`);
  };
