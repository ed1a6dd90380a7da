/** Who saw something: `in_flight` = requests that it has open now. */
export interface SeenBy {
  readonly executor: string;
  readonly in_flight: number;
}
