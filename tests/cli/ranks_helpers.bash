# What the tests of several ranks share.

# parts TRACE: "GPU start duration bytes" of each part of a collective, us
parts() {
    python3 - "$1" << 'END'
import json, sys
kernels, streams = {}, {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    if 'call' in row:
        kernel = kernels.get(row.get('kernel'), {})
        if 'collective' in kernel:
            print(streams[row['stream']], row['op_start_ns'] // 1000, row['op_duration_ns'] // 1000, kernel['bytes'])
    elif 'kernel' in row:
        kernels[row.get('id', row['kernel'])] = row
    elif 'stream' in row:
        streams[row['stream']] = row.get('gpu', 0)
END
}
