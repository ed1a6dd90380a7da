import type { BatchAnswer, PushControl } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import { ok, type Result } from "../../../src/errors/result.ts";

/** A Run that takes whatever is pushed to it, and forgets it. */
export class FakePushes implements PushControl {
  async pushBatch(): Promise<Result<BatchAnswer>> {
    return ok({ kind: "added" });
  }
  async describePushed(): Promise<Result<null>> {
    return ok(null);
  }
  async closePushed(): Promise<Result<null>> {
    return ok(null);
  }
}
