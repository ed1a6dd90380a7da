const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** What a team may call a schedule. */
export const isScheduleName = (text: string): boolean => NAME.test(text);
export const SCHEDULE_NAME_RULE = "must have 1 to 64 letters, digits, _, - and ., a letter or digit first";
