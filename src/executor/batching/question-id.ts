import type { BatchedRequest } from "../../clients/batching/batch-route.ts";
import { type AskedPlace, questionName } from "../answers/question.ts";
import { requestId, type RequestId } from "./custom-id.ts";

/** Names requests of one run: the same question has the same name in every play of its rollout, at whichever of the run's places it is asked. */
export type NameRequest = (unit: number, rollout: number, request: BatchedRequest) => Promise<RequestId>;

/** `place`: the first of the run's. */
export const nameRequests =
  (place: AskedPlace): NameRequest =>
  async (unit, rollout, { model, body, state }) =>
    requestId(unit, rollout, await questionName(place, { route: null, model, body, state }));
