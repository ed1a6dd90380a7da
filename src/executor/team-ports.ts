import { runName, type TeamOf, teamPrefix } from "../teams/team-name.ts";
import type { ExecutorPorts, ExecutorStore } from "./ports.ts";

/** The ports of work for one team: ids and keys mean the team's own, and no id or key leads out of it. */
export function teamPorts(ports: ExecutorPorts, { team }: TeamOf): ExecutorPorts {
  if (teamPrefix(team) === "") return ports;
  return {
    ...ports,
    run: (runId) => ports.run(runName({ run_id: runId, ...(team === undefined ? {} : { team }) })),
    store: within(ports.store, teamPrefix(team)),
  };
}

const within = (store: ExecutorStore, own: string): ExecutorStore => ({
  create: (key, bytes) => store.create(`${own}${key}`, bytes),
  put: (key, bytes, contentType) => store.put(`${own}${key}`, bytes, contentType),
  read: (key, offset, length) => store.read(`${own}${key}`, offset, length),
  readAll: (key) => store.readAll(`${own}${key}`),
  stream: (key) => store.stream(`${own}${key}`),
  size: (key) => store.size(`${own}${key}`),
  startUpload: (key, contentType, mark) => store.startUpload(`${own}${key}`, contentType, mark),
  uploadPart: (key, uploadId, part, bytes) => store.uploadPart(`${own}${key}`, uploadId, part, bytes),
  completeUpload: (key, uploadId, parts, mark) => store.completeUpload(`${own}${key}`, uploadId, parts, mark),
});
