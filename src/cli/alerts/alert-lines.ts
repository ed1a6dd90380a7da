import { OCCURRENCE_TYPES } from "../../alerts/occurrence-types.ts";
import { columnLines, fieldLines } from "../../report/text/columns.ts";
import { singleLine } from "../../report/text/printable.ts";
import type { ListedAlert, ListedAttempt, ListedMessage } from "./alert-answer.ts";

/** Alerts as a terminal shows them. */

const onText = ({ on }: ListedAlert["definition"]): string => (on.length === OCCURRENCE_TYPES.length ? "everything" : on.join(", "));
const toText = ({ to, email }: ListedAlert["definition"]): string => (email === undefined ? to : `${to} ${email}`);
const stateText = ({ disabled, waiting }: ListedAlert): string =>
  disabled !== null ? `disabled: ${disabled.reason}` : waiting === 0 ? "enabled" : `${waiting} waiting`;

const attemptText = ({ status, problem, body }: ListedAttempt): string =>
  [
    ...(problem === null ? [] : [problem]),
    ...(status === null || problem?.includes(String(status)) ? [] : [`status ${status}`]),
    ...(body === "" ? [] : [body]),
  ].join(": ");

export function listLines(alerts: readonly ListedAlert[], width: number): readonly string[] {
  const columns = [
    { title: "ALERT" },
    { title: "TO" },
    { title: "ON", flexible: true },
    { title: "FOR", flexible: true },
    { title: "STATE", flexible: true },
    { title: "LAST" },
  ];
  return columnLines(
    columns,
    alerts.map((each) => [
      each.name,
      toText(each.definition),
      onText(each.definition),
      each.definition.for.join(", "),
      stateText(each),
      each.last === null ? "-" : `${each.last.type} ${each.last.state}`,
    ]),
    width,
  );
}

export function alertLines(alert: ListedAlert): readonly string[] {
  const { definition, last } = alert;
  return [
    ...fieldLines([
      ["Alert", alert.name],
      ["To", toText(definition)],
      ["On", onText(definition)],
      ["For", definition.for.join(", ")],
      ["State", stateText(alert)],
      ["By", `${alert.created_by} at ${alert.created_at}`],
    ]),
    ...(last === null ? [] : [`Last message: ${messageLine(last)}`]),
  ];
}

/** What became of one message. */
export function messageLine({ id, type, at, state, tries, next_at, attempts }: ListedMessage): string {
  const newest = attempts.at(-1);
  const came = newest === undefined ? "" : `: ${attemptText(newest)}`;
  const next = next_at === null || tries === 0 ? "" : `, again at ${next_at}`;
  return singleLine(`${id} ${type} of ${at} ${state === "waiting" && tries > 0 ? "was not taken" : state}${came}${next}`);
}

export function logLines(messages: readonly ListedMessage[], width: number): readonly string[] {
  const columns = [
    { title: "AT" },
    { title: "MESSAGE" },
    { title: "TYPE" },
    { title: "STATE" },
    { title: "TRIES", align: "right" as const },
    { title: "NEXT" },
    { title: "ANSWER", flexible: true },
    { title: "TEXT", flexible: true },
  ];
  return columnLines(
    columns,
    messages.map(({ at, id, type, state, tries, next_at, attempts, text }) => {
      const newest = attempts.at(-1);
      return [at, id, type, state, String(tries), next_at ?? "-", newest === undefined ? "-" : attemptText(newest), text];
    }),
    width,
  );
}

/** How a receiver knows who sends. */
export const secretLines = (secret: string): readonly string[] => [
  "Its messages are signed with this secret, which is shown here and nowhere else:",
  `  ${secret}`,
];
