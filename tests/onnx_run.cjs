// Runs an ONNX model: node tests/onnx_run.cjs MODEL INPUT OUTPUT N CHANNELS SIDE; float32 files.
const fs = require('fs');
let runtime;
try {
  runtime = require('onnxruntime-node');
} catch (error) {
  console.error('onnxruntime-node is not installed (scripts/setup --onnx): ' + error.message.split('\n')[0]);
  process.exit(77);
}
const [model, input, output, n, channels, side] = process.argv.slice(2);
const bytes = fs.readFileSync(input);
const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
(async () => {
  const session = await runtime.InferenceSession.create(model);
  const shape = [n, channels, side, side].map(Number);
  const results = await session.run({images: new runtime.Tensor('float32', values, shape)});
  const logits = results.logits.data;
  fs.writeFileSync(output, Buffer.from(logits.buffer, logits.byteOffset, logits.byteLength));
})().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
