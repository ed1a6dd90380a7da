import type { CellControl } from "../../../durable-objects/run/reading/cells-protocol.ts";
import type { SummaryControl } from "../../../durable-objects/run/reading/row-answers.ts";
import { FakePushes } from "./fake-pushes.ts";

/** Of its columns and rows, and what they add up to, nothing is known here: tests of those have real objects. */
export class FakeReading extends FakePushes implements CellControl, SummaryControl {
  async columns(): Promise<null> {
    return null;
  }
  async examplePlaces(): Promise<null> {
    return null;
  }
  async pinnedInputs(): Promise<null> {
    return null;
  }
  async scan(): Promise<null> {
    return null;
  }
  async distribution(): Promise<null> {
    return null;
  }
  async firstErrors(): Promise<null> {
    return null;
  }
  async timeline(): Promise<null> {
    return null;
  }
}
