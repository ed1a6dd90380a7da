import type { JsonObject } from "../config/plan/run-config.ts";
import type { Destination } from "./destinations.ts";
import type { Occurrence } from "./occurrence.ts";

/** What receivers are sent. */

/** Something that happened, or the trial of an alert. */
export type Told = Occurrence | TestTold;
export interface TestTold extends Pick<Occurrence, "id" | "at" | "text"> {
  readonly type: "test";
}

export interface MessageContext {
  readonly team: string;
  /** Name of the alert. */
  readonly alert: string;
  /** Where people reach the service; null = nowhere that stays. */
  readonly origin: string | null;
}

/** The page of the run, for those who may sign in; null where it is about none, or there is no such place. */
export function linkOf(told: Told, { origin, team }: Pick<MessageContext, "origin" | "team">): string | null {
  const run = told.type === "test" ? undefined : told.subject.run_id;
  if (run === undefined || origin === null) return null;
  return `${origin}/dashboard/evaluations/${run}${team === "default" ? "" : `?team=${team}`}`;
}

/** The payload of a webhook: type, time and data, as the Standard Webhooks specification has them. */
function payloadOf(told: Told, context: MessageContext): JsonObject {
  const { type, at, text, id } = told;
  const facts =
    told.type === "test"
      ? {}
      : { ...told.subject, names: [...told.names], ...(told.condition === undefined ? {} : { state: told.condition.state }), facts: told.data };
  const link = linkOf(told, context);
  const { team, alert } = context;
  return { type, timestamp: new Date(at).toISOString(), data: { id, team, alert, text, ...(link === null ? {} : { link }), ...facts } as JsonObject };
}

/** Slack's own marks: all else is text as it is (api.slack.com/reference/surfaces/formatting#escaping). */
const slackText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
/** Discord's Markdown. */
const discordText = (text: string): string => text.replace(/[\\*_~`|>#[\]()@-]/g, "\\$&");
/** Characters that Discord takes (discord.com/developers/docs/resources/webhook#execute-webhook). */
const DISCORD_MOST = 2_000;

const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();

/** The body that is posted. */
export function bodyOf(to: Exclude<Destination, "email">, told: Told, context: MessageContext): string {
  if (to === "webhook") return JSON.stringify(payloadOf(told, context));
  const link = linkOf(told, context);
  const text = oneLine(told.text);
  if (to === "slack") return JSON.stringify({ text: `*${told.type}* ${slackText(text)}${link === null ? "" : ` <${slackText(link)}|Open the run>`}` });
  const end = link === null ? "" : ` <${link}>`;
  const shown = `**${told.type}** ${discordText(text)}`;
  return JSON.stringify({ content: `${shown.slice(0, DISCORD_MOST - end.length)}${end}`, allowed_mentions: { parse: [] } });
}

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

export function mailOf(told: Told, context: MessageContext): Mail {
  const text = oneLine(told.text);
  const link = linkOf(told, context);
  const facts =
    told.type === "test"
      ? []
      : Object.entries(told.data).map(([name, value]) => `${name}: ${typeof value === "string" ? oneLine(value) : JSON.stringify(value)}`);
  const lines = [
    text,
    "",
    ...(link === null ? [] : [link, ""]),
    ...facts,
    `At ${new Date(told.at).toISOString()}, team ${context.team}, alert ${context.alert}.`,
  ];
  return { subject: `[edgewise] ${told.type}: ${text}`.slice(0, 200), text: lines.join("\n") };
}
