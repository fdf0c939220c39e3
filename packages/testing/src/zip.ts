import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  name: string;
  bytes: Uint8Array;
  /** Replaces the deflated `bytes`. */
  packed?: Uint8Array;
  /** Overrides fields of its directory entry. An entry with `offset` has no data of its own. */
  says?: { size?: number; crc?: number; flags?: number; offset?: number };
  /** Overrides the size in its local header. */
  localSize?: number;
}

/** A ZIP of these entries, also an inconsistent one. With an entry count above 65,535 it is a ZIP64. */
export function zipOf(entries: ZipEntry[], { entryCount = entries.length } = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, bytes, says = {}, localSize = bytes.length, packed = deflateRawSync(bytes) } of entries) {
    const file = Buffer.from(name);
    const fields = (size: number) => {
      const common = Buffer.alloc(26);
      common.writeUInt16LE(20, 0);
      common.writeUInt16LE(0x800 | (says.flags ?? 0), 2);
      common.writeUInt16LE(8, 4);
      common.writeUInt32LE(says.crc ?? crc32(bytes), 10);
      common.writeUInt32LE(packed.length, 14);
      common.writeUInt32LE(size, 18);
      common.writeUInt16LE(file.length, 22);
      return common;
    };
    const body = Buffer.concat([Buffer.from('504b0304', 'hex'), fields(localSize), file, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(says.offset ?? at, 10);
    directory.push(Buffer.concat([Buffer.from('504b01021400', 'hex'), fields(says.size ?? bytes.length), rest, file]));
    if (says.offset !== undefined) continue;
    bodies.push(body);
    at += body.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('504b0506', 'hex');
  end.writeUInt16LE(Math.min(entryCount, 0xffff), 8);
  end.writeUInt16LE(Math.min(entryCount, 0xffff), 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, list, ...(entryCount > 0xffff ? endOfZip64(entryCount, list.length, at) : []), end]);
}

/** The ZIP64 records before the end record, which the count does not fit into. */
function endOfZip64(entryCount: number, listBytes: number, listAt: number): Buffer[] {
  const end = Buffer.alloc(56);
  end.write('504b0606', 'hex');
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt32LE(0x2d_002d, 12);
  end.writeBigUInt64LE(BigInt(entryCount), 24);
  end.writeBigUInt64LE(BigInt(entryCount), 32);
  end.writeBigUInt64LE(BigInt(listBytes), 40);
  end.writeBigUInt64LE(BigInt(listAt), 48);
  const locator = Buffer.alloc(20);
  locator.write('504b0607', 'hex');
  locator.writeBigUInt64LE(BigInt(listAt + listBytes), 8);
  locator.writeUInt32LE(1, 16);
  return [end, locator];
}
