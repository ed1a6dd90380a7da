import { LOGGER } from "../../report/logs/eval-log.ts";
import type { StoredEvent } from "../../logging/stored-event.ts";
import { mergedLogs, readLogs } from "../view/log-files.ts";

/** A line of a log as ours and the Python library's are: when, of what, how grave. */
const LINE = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)\S* - (\S+) - (DEBUG|INFO|WARNING|ERROR|CRITICAL) - (.*)$/s;

/** The logs of a folder as events, by their time; of long ones the newest lines. */
export async function folderEvents(path: string): Promise<readonly StoredEvent[]> {
  const lines = mergedLogs(await readLogs(path));
  let time = 0;
  return lines.map((line, at): StoredEvent => {
    const [, day, clock, logger = "", level = "INFO", message = line] = LINE.exec(line) ?? [];
    const said = Date.parse(`${day}T${clock}Z`);
    // A line without a moment, or with none that there is, is of that of the one before.
    time = Number.isNaN(said) ? time : said;
    return {
      seq: at + 1,
      time,
      type: "log",
      level: level === "CRITICAL" ? "ERROR" : (level as StoredEvent["level"]),
      message: logger === LOGGER || logger === "" ? message : `${logger}: ${message}`,
      rollouts: 0,
    };
  });
}
