/**
 * A plain local part, ASCII or not, and a domain or address literal: nothing that a header or an SMTP command could
 * read as more than one address. Quoted local parts are left out; no mailbox we write to has one.
 */
export const mailAddressForm =
  /^[^\s\p{Cc}@<>()[\]\\,;:"]{1,64}@([^\s\p{Cc}@<>()[\]\\,;:"]{1,253}|\[[0-9A-Za-z.:]{2,60}\])$/u;

/** Whether mail can be sent to, from and in answer to an address. */
export const isMailable = (address: string): boolean => address.length <= 254 && mailAddressForm.test(address);
