#include "longtail/nn/onednn/convolution.h"

#include <dlfcn.h>

#include <array>
#include <dnnl.hpp>
#include <initializer_list>
#include <utility>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/nn/aligned.h"

namespace longtail::nn::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

void check(dnnl_status_t status, const char* what) {
  if (status != dnnl_success) base::fail("oneDNN could not {} (status {})", what, static_cast<int>(status));
}

// oneDNN's own threads must stay out: the parallelism is ours, over slices of the batch. Debian's build uses
// OpenMP, where the number of threads belongs to the calling thread.
void stay_on_this_thread() {
  static const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  thread_local bool done = false;
  if (done) return;
  if (set_threads) set_threads(1);
  done = true;
}

void check_runtime() {
  const unsigned runtime = dnnl_version()->cpu_runtime;
  const bool openmp = runtime == DNNL_RUNTIME_OMP && dlsym(RTLD_DEFAULT, "omp_set_num_threads") != nullptr;
  if (!openmp && runtime != DNNL_RUNTIME_SEQ) {
    base::fail(
        "the installed oneDNN runs its own threads in a way that cannot be bounded; install one built with "
        "OpenMP "
        "or without threads (Debian's libdnnl2)");
  }
}

}  // namespace

struct Context::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  std::vector<dnnl::stream> streams;
  std::vector<Aligned<std::byte>> scratch;

  void need_scratch(std::size_t bytes) {
    for (auto& block : scratch) {
      if (block.size() < bytes) block = Aligned<std::byte>(bytes);
    }
  }
};

Context::Context(int workers) : state_(std::make_unique<State>()) {
  check_runtime();
  stay_on_this_thread();
  for (int i = 0; i < workers; ++i) state_->streams.emplace_back(state_->engine);
  state_->scratch.resize(static_cast<std::size_t>(workers));
  state_->need_scratch(64);
}

Context::~Context() = default;

int channel_block() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::all:
      return 8;
    default:
      return 16;
  }
}

// A primitive with its arguments laid out once for each worker; a run only moves pointers.
class Call {
 public:
  Call() = default;
  template <class Description>
  Call(Context::State& context, const dnnl::primitive& primitive, const Description& description,
       std::initializer_list<std::pair<int, memory::desc>> arguments)
      : context_(&context), primitive_(primitive) {
    const memory::desc scratch = description.scratchpad_desc();
    context.need_scratch(scratch.get_size());
    for (std::size_t worker = 0; worker < context.streams.size(); ++worker) {
      Arguments& mine = workers_.emplace_back();
      for (const auto& [role, desc] : arguments) mine.memories.emplace_back(desc, context.engine, nullptr);
      mine.memories.emplace_back(scratch, context.engine, nullptr);
      std::size_t i = 0;
      for (const auto& [role, desc] : arguments) mine.list.push_back({role, mine.memories[i++].get()});
      mine.list.push_back({DNNL_ARG_SCRATCHPAD, mine.memories[i].get()});
    }
  }

  explicit operator bool() const { return context_ != nullptr; }

  // Pointers in the order of the arguments given at construction.
  void run(int worker, std::initializer_list<const void*> pointers) {
    stay_on_this_thread();
    const auto w = static_cast<std::size_t>(worker);
    Arguments& mine = workers_[w];
    std::size_t i = 0;
    for (const void* pointer : pointers) {
      check(dnnl_memory_set_data_handle(mine.list[i++].memory, const_cast<void*>(pointer)), "take a pointer");
    }
    check(dnnl_memory_set_data_handle(mine.list[i].memory, context_->scratch[w].data()),
          "take its scratch memory");
    check(dnnl_primitive_execute(primitive_.get(), context_->streams[w].get(),
                                 static_cast<int>(mine.list.size()), mine.list.data()),
          "run a convolution");
  }

 private:
  struct Arguments {
    std::vector<memory> memories;
    std::vector<dnnl_exec_arg_t> list;
  };
  Context::State* context_ = nullptr;
  dnnl::primitive primitive_;
  std::vector<Arguments> workers_;
};

struct Convolution::State {
  struct Training {
    Call input_gradient;
    Call weight_gradient;
  };

  Context::State& context;
  ConvShape shape;
  dnnl::primitive_attr attributes;
  memory::desc plain, packed_forward, packed_backward, packed_gradient;
  std::map<std::pair<int, Epilogue>, Call> forwards;
  std::map<int, Training> trainings;
  Call to_forward, to_backward, from_gradient;

  State(Context::State& c, const ConvShape& s) : context(c), shape(s) {
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const memory::dims dims = {s.out, s.in, s.kernel, s.kernel};
    plain = memory::desc(dims, memory::data_type::f32, Tag::oihw);
    packed_forward = packed_backward = packed_gradient = memory::desc(dims, memory::data_type::f32, Tag::any);
  }

  bool is_input() const { return shape.in < 16; }

  Tag blocked() const { return channel_block() == 16 ? Tag::nChw16c : Tag::nChw8c; }
  memory::desc input(int images) const {
    return {{images, shape.in, shape.side, shape.side},
            memory::data_type::f32,
            is_input() ? Tag::nchw : blocked()};
  }
  memory::desc output(int images) const {
    const int side = shape.side / shape.stride;
    return {{images, shape.out, side, side}, memory::data_type::f32, blocked()};
  }
  memory::desc bias() const { return {{shape.out}, memory::data_type::f32, Tag::x}; }
  memory::dims strides() const { return {shape.stride, shape.stride}; }
  memory::dims before() const { return {shape.kernel / 2, shape.kernel / 2}; }
  // Padding after the last pixel: what makes the output side / stride pixels long.
  memory::dims after() const {
    const int p = shape.kernel / 2 - (shape.stride - 1);
    return {p, p};
  }

  static dnnl::primitive_attr with_epilogue(dnnl::primitive_attr attributes, Epilogue epilogue) {
    dnnl::post_ops post;
    if (epilogue == Epilogue::kBiasSumRelu) post.append_sum(1.0f);
    if (epilogue == Epilogue::kBiasRelu || epilogue == Epilogue::kBiasSumRelu) {
      post.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    }
    attributes.set_post_ops(post);
    return attributes;
  }

  dnnl::convolution_forward::primitive_desc describe_forward(int images, Epilogue epilogue) const {
    const auto algorithm = dnnl::algorithm::convolution_direct;
    dnnl::primitive_attr own;
    own.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (epilogue == Epilogue::kNone) {
      return {{dnnl::prop_kind::forward_training, algorithm, input(images), packed_forward, output(images),
               strides(), before(), after()},
              own,
              context.engine};
    }
    return {{dnnl::prop_kind::forward_inference, algorithm, input(images), packed_forward, bias(),
             output(images), strides(), before(), after()},
            with_epilogue(own, epilogue),
            context.engine};
  }

  void prepare_forward(int images, Epilogue epilogue) {
    stay_on_this_thread();
    Call& call = forwards[{images, epilogue}];
    if (call) return;
    const auto description = describe_forward(images, epilogue);
    packed_forward = description.weights_desc();
    const dnnl::convolution_forward primitive(description);
    if (epilogue == Epilogue::kNone) {
      call = Call(context, primitive, description,
                  {{DNNL_ARG_SRC, input(images)},
                   {DNNL_ARG_WEIGHTS, packed_forward},
                   {DNNL_ARG_DST, output(images)}});
    } else {
      call = Call(context, primitive, description,
                  {{DNNL_ARG_SRC, input(images)},
                   {DNNL_ARG_WEIGHTS, packed_forward},
                   {DNNL_ARG_BIAS, bias()},
                   {DNNL_ARG_DST, output(images)}});
    }
  }

  void prepare_training(int images) {
    prepare_forward(images, Epilogue::kNone);
    Training& training = trainings[images];
    if (training.weight_gradient) return;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const auto hint = describe_forward(images, Epilogue::kNone);
    const dnnl::convolution_backward_weights::primitive_desc weights(
        {algorithm, input(images), packed_gradient, output(images), strides(), before(), after()}, attributes,
        context.engine, hint);
    packed_gradient = weights.diff_weights_desc();
    training.weight_gradient = Call(context, dnnl::convolution_backward_weights(weights), weights,
                                    {{DNNL_ARG_SRC, input(images)},
                                     {DNNL_ARG_DIFF_DST, output(images)},
                                     {DNNL_ARG_DIFF_WEIGHTS, packed_gradient}});
    if (is_input()) return;
    const dnnl::convolution_backward_data::primitive_desc data(
        {algorithm, input(images), packed_backward, output(images), strides(), before(), after()}, attributes,
        context.engine, hint);
    packed_backward = data.weights_desc();
    training.input_gradient = Call(context, dnnl::convolution_backward_data(data), data,
                                   {{DNNL_ARG_DIFF_DST, output(images)},
                                    {DNNL_ARG_WEIGHTS, packed_backward},
                                    {DNNL_ARG_DIFF_SRC, input(images)}});
  }

  Call reorder(const memory::desc& from, const memory::desc& to) {
    const dnnl::reorder::primitive_desc description(context.engine, from, context.engine, to, attributes);
    return Call(context, dnnl::reorder(description), description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }
};

Convolution::Convolution(Context& context, const ConvShape& shape, int images)
    : state_(std::make_unique<State>(*context.state_, shape)) {
  State& s = *state_;
  s.prepare_training(images);  // settles the layouts of the weights
  s.to_forward = s.reorder(s.plain, s.packed_forward);
  s.from_gradient = s.reorder(s.packed_gradient, s.plain);
  if (!s.is_input()) s.to_backward = s.reorder(s.plain, s.packed_backward);
}

Convolution::~Convolution() = default;
Convolution::Convolution(Convolution&&) noexcept = default;

const ConvShape& Convolution::shape() const { return state_->shape; }
void Convolution::prepare_training(int images) { state_->prepare_training(images); }
void Convolution::prepare_forward(int images, Epilogue epilogue) {
  state_->prepare_forward(images, epilogue);
}

std::size_t Convolution::forward_weights() const { return state_->packed_forward.get_size() / sizeof(float); }
std::size_t Convolution::backward_weights() const {
  return state_->is_input() ? 0 : state_->packed_backward.get_size() / sizeof(float);
}
std::size_t Convolution::gradient_weights() const {
  return state_->packed_gradient.get_size() / sizeof(float);
}

void Convolution::pack_forward(int worker, const float* plain, float* packed) {
  state_->to_forward.run(worker, {plain, packed});
}
void Convolution::pack_backward(int worker, const float* plain, float* packed) {
  state_->to_backward.run(worker, {plain, packed});
}
void Convolution::unpack_gradient(int worker, const float* packed, float* plain) {
  state_->from_gradient.run(worker, {packed, plain});
}

void Convolution::forward(int worker, int images, const float* input, const float* packed, float* output) {
  state_->forwards.at({images, Epilogue::kNone}).run(worker, {input, packed, output});
}
void Convolution::forward(int worker, int images, Epilogue epilogue, const float* input, const float* packed,
                          const float* bias, float* output) {
  state_->forwards.at({images, epilogue}).run(worker, {input, packed, bias, output});
}
void Convolution::input_gradient(int worker, int images, const float* output_gradient, const float* packed,
                                 float* result) {
  state_->trainings.at(images).input_gradient.run(worker, {output_gradient, packed, result});
}
void Convolution::weight_gradient(int worker, int images, const float* input, const float* output_gradient,
                                  float* packed) {
  state_->trainings.at(images).weight_gradient.run(worker, {input, output_gradient, packed});
}

}  // namespace longtail::nn::onednn
