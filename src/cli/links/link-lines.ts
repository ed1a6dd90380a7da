import { singleLine } from "../../report/text/printable.ts";
import { argumentLine } from "../environments/argument-line.ts";
import type { LinkAnswer, LinkStatusAnswer, ServerAnswer } from "./link-answers.ts";

/** What a person reads of a link: what it is, and its arguments. */
export function linkLines({ name, environment, version, description, digest, defaults, keys, args, urls, ...link }: LinkAnswer): readonly string[] {
  const { num_examples, rollouts_per_example } = defaults;
  const usual = [...(num_examples === undefined ? [] : [`-n ${num_examples}`]), ...(rollouts_per_example === undefined ? [] : [`-r ${rollouts_per_example}`])];
  const called = environment === name ? "" : `, which calls it ${environment}`;
  const whose =
    link.command === null ? `linked ${link.linked_at.slice(0, 10)} by ${link.linked_by}` : "played by a command of this machine, for as long as it works";
  return [
    `${singleLine(`${name} ${version}`)} (linked)`,
    ...(description.trim() === "" ? [] : [`  ${singleLine(description)}`]),
    `  ${singleLine(`at ${urls.join(", ")}${called}; ${whose}`)}`,
    `  code ${singleLine(digest)}`,
    ...(usual.length === 0 ? [] : [`  by default ${usual.join(" ")}`]),
    ...(keys.length === 0 ? [] : [`  needs ${singleLine(keys.join(", "))}`]),
    ...args.map(argumentLine),
  ];
}

/** How its servers are, and what to do about those that are not as they should be. */
export function statusLines({ name, version, servers }: LinkStatusAnswer): readonly string[] {
  const healthy = servers.filter(({ state }) => state === "healthy").length;
  const whole = healthy === servers.length ? "healthy" : healthy === 0 ? "not usable" : `${healthy} of ${servers.length} servers healthy`;
  return [
    singleLine(`${name} ${version} (linked): ${whole}`),
    ...servers.flatMap(serverLines),
    ...(servers.some(({ state }) => state === "unreachable") ? [singleLine(startLine(name))] : []),
  ];
}

const startLine = (name: string): string => `  Start what cannot be reached; if it is at another address now: npx edgewise env link ${name} URL`;

const STATES: Readonly<Record<ServerAnswer["state"], string>> = {
  healthy: "healthy",
  other_code: "has other code",
  refused: "does not answer as it should",
  unreachable: "cannot be reached",
};

function serverLines({ url, state, problem, protocol, version, conversations, units }: ServerAnswer): readonly string[] {
  const facts =
    protocol === null ? "" : `: protocol ${protocol}, version ${version ?? "-"}, ${conversations ?? 0} conversations, ${units ?? 0} examples under way`;
  return [`  ${singleLine(`${url} ${STATES[state]}${facts}`)}`, ...(problem === null ? [] : [`    ${singleLine(problem)}`])];
}
