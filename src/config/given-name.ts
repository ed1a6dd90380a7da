const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** What a team may call something that it makes: a baseline, a schedule, a monitor. */
export const isGivenName = (text: string): boolean => NAME.test(text);
export const GIVEN_NAME_RULE = "must have 1 to 64 letters, digits, _, - and ., a letter or digit first";
