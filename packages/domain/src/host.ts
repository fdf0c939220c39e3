/**
 * A host name, or an IPv4 or IPv6 address without brackets: no scheme and no port, for those have fields of their own. Only an IPv6
 * address has colons, and at least two.
 */
export const hostForm = /^(?:[A-Za-z0-9._-]+|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)$/;

/** What a person is told whose host has another form. */
export const hostFault = 'must be a host name or an IP address, without a port';
