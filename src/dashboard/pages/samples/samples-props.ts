import type { SamplesView } from "../../address/samples-view.ts";
import type { SamplesList } from "../../samples/samples-list.ts";
import type { SamplesSource } from "../../samples/samples-source.ts";

/** What the parts of the page share. */
export interface SamplesProps {
  readonly source: SamplesSource;
  readonly list: SamplesList;
  readonly view: SamplesView;
  readonly go: (next: SamplesView, replaces?: boolean) => void;
}
