import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  name: string;
  bytes: Uint8Array;
  /** Said of it in the directory, whatever is true. */
  says?: { size?: number; crc?: number; flags?: number; offset?: number };
  /** Said of its size where it stands. */
  localSize?: number;
}

/** A ZIP as asked for, also one that lies. */
export function zipOf(entries: ZipEntry[], { entryCount = entries.length } = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, bytes, says = {}, localSize = bytes.length } of entries) {
    const packed = deflateRawSync(bytes);
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
    bodies.push(body);
    at += body.length;
  }
  const end = Buffer.alloc(22);
  end.write('504b0506', 'hex');
  end.writeUInt16LE(Math.min(entryCount, 0xffff), 8);
  end.writeUInt16LE(Math.min(entryCount, 0xffff), 10);
  const list = Buffer.concat(directory);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, list, end]);
}
