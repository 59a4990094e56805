import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{c as t,d as n,i as r,l as i,m as a,mr as o,n as s,p as c,pr as l,r as u,s as d,t as f,u as p}from"./vendor-B-ha6N13.js";function m(e){return new Worker(`/playground/assets/json.worker-ky6CAS4V.js`,{type:`module`,name:e?.name})}function ee(e){return new Worker(`/playground/assets/editor.worker-DEFT_Yb2.js`,{type:`module`,name:e?.name})}function h(e){return new Worker(`/playground/assets/graphql.worker-CnQW6F4w.js`,{type:`module`,name:e?.name})}window.MonacoEnvironment={getWorker:(e,t)=>t===`json`?new m:t===`graphql`?new h:new ee};var g=r(),_=e(l(),1),v={answers:0,total:0},y=new Set;function te({result:e,...t}){let n=e.extensions?.cosmos,r=(e.errors??[]).map(e=>String(e.extensions?.code??``));v={last:{...t,codes:r,cosmos:n},answers:v.answers+1,total:v.total+(n?.requestCharge??0)};for(let e of y)e()}function ne(e){return y.add(e),()=>y.delete(e)}var b=()=>(0,_.useSyncExternalStore)(ne,()=>v),x=e=>`${e.toLocaleString(`en`,{maximumFractionDigits:2})} RU`,S=`cosmosblog.session`,C=new Set,w=JSON.parse(sessionStorage.getItem(S)??`null`)??void 0,T=()=>w;function E(e){w=e,e?sessionStorage.setItem(S,JSON.stringify(e)):sessionStorage.removeItem(S);for(let e of C)e()}function D(e){return C.add(e),()=>C.delete(e)}var O=()=>(0,_.useSyncExternalStore)(D,T),k=({token:e})=>`Bearer ${e}`;function A(){return{...w&&{authorization:k(w)},"x-cosmos-diagnostics":`1`}}async function j(e,t,n){let r=new Headers(t);return r.set(`accept`,`application/graphql-response+json, application/json`),r.set(`content-type`,`application/json`),fetch(e,{method:`POST`,headers:r,body:JSON.stringify(n)})}async function M(e,t={}){let n=T(),r=new Headers(A());for(let[e,n]of Object.entries(t))r.set(e,String(n));let i=await j(`/graphql`,r,e);return i.status!==401||!n||r.get(`authorization`)!==k(n)?i:(E(),M(e,t))}var re=async(e,t)=>{let n=performance.now(),r=await(await M({...e,operationName:ie(e)},t?.headers)).text(),i=JSON.parse(r);return e.operationName!==`IntrospectionQuery`&&te({result:i,milliseconds:performance.now()-n,bytes:new Blob([r]).size}),i};function ie({query:e,operationName:t}){try{let n=c(e).definitions.filter(e=>e.kind===a.OPERATION_DEFINITION).map(e=>e.name?.value);return n.length===1?n[0]:t}catch{return t}}async function N(e,t){let n=await(await M({query:e,variables:t})).json();if(n.errors?.[0])throw Error(n.errors[0].message);return n.data}async function ae(e){let t=await(await j(`/development/token`,{},{name:e})).json();if(!t.token)throw Error(t.errors?.[0]?.message??`This server signs nobody in by name.`);return t.token}async function oe(){let{viewer:e,feed:t}=await N(`{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }`,{}),n=e=>Math.min(e.commentCount,e.likeCount),r=t?.nodes.toSorted((e,t)=>n(t)-n(e))[0];return{postId:r?.id,userId:e?.id??r?.author.id}}var P=o();function F({className:e,children:t}){return(0,P.jsx)(`svg`,{className:e,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,strokeWidth:`1.75`,strokeLinecap:`round`,strokeLinejoin:`round`,"aria-hidden":`true`,children:t})}var I=()=>(0,P.jsxs)(F,{className:`graphiql-toolbar-icon`,children:[(0,P.jsx)(`circle`,{cx:`8`,cy:`15`,r:`4.5`}),(0,P.jsx)(`path`,{d:`m11.5 11.5 8-8M16 7l3 3`})]}),L=()=>(0,P.jsxs)(F,{children:[(0,P.jsx)(`rect`,{x:`3.5`,y:`3.5`,width:`17`,height:`17`,rx:`3`}),(0,P.jsx)(`path`,{d:`m8 9 3 3-3 3M13.5 15H17`})]}),R={title:`Request charges`,icon:()=>(0,P.jsxs)(F,{children:[(0,P.jsx)(`path`,{d:`M4 17.5a9 9 0 1 1 16 0M12 14.5l4-5`}),(0,P.jsx)(`circle`,{cx:`12`,cy:`14.5`,r:`1.2`})]}),content:z};function z(){let{last:e,answers:t,total:n}=b(),r=e?.cosmos;return(0,P.jsxs)(`section`,{className:`charges`,"aria-labelledby":`charges`,children:[(0,P.jsx)(`h2`,{id:`charges`,className:`panel-title`,children:`Request charges`}),!e&&(0,P.jsx)(`p`,{className:`panel-text`,children:`Run an operation to see what it costs in request units (RU).`}),e&&!r&&(0,P.jsx)(`p`,{className:`panel-text`,children:`The last answer has no charges, because it was rejected before it was executed.`}),r&&(0,P.jsxs)(P.Fragment,{children:[(0,P.jsxs)(`dl`,{children:[(0,P.jsx)(B,{name:`RU charged`,value:String(r.requestCharge)}),(0,P.jsx)(B,{name:`RU estimated`,value:String(r.estimate)}),(0,P.jsx)(B,{name:`Requests`,value:String(r.requests.filter(e=>!e.cached).length)})]}),(0,P.jsx)(`div`,{className:`scroll`,tabIndex:0,role:`region`,"aria-label":`Requests to Cosmos DB`,children:(0,P.jsxs)(`table`,{children:[(0,P.jsx)(`thead`,{children:(0,P.jsxs)(`tr`,{children:[(0,P.jsx)(`th`,{scope:`col`,children:`Field and request`}),(0,P.jsx)(`th`,{scope:`col`,className:`number`,children:`RU`})]})}),(0,P.jsx)(`tbody`,{children:r.requests.map((e,t)=>(0,P.jsx)(V,{sent:e},t))})]})}),r.requests.some(e=>e.cached)&&(0,P.jsx)(`p`,{className:`panel-text`,children:`A cached read cost nothing, because nothing was written to its partition since it was last read.`})]}),t>0&&(0,P.jsxs)(`p`,{className:`panel-text`,children:[x(n),` in `,t,` `,t===1?`answer`:`answers`,` since this page was loaded.`]})]})}var B=({name:e,value:t})=>(0,P.jsxs)(`div`,{children:[(0,P.jsx)(`dt`,{children:e}),(0,P.jsx)(`dd`,{children:t})]});function V({sent:e}){let t=[e.partitionKey].flat();return(0,P.jsxs)(`tr`,{children:[(0,P.jsxs)(`td`,{children:[(0,P.jsx)(`code`,{children:e.path.join(`.`)||`–`}),(0,P.jsx)(`br`,{}),e.operation,` in `,(0,P.jsx)(`strong`,{children:e.container}),e.status>=400&&`, status ${e.status}`,(0,P.jsx)(`br`,{}),(0,P.jsx)(`code`,{className:`key`,title:t.join(`, `),children:t.length>1?`${t.length} partitions`:t[0]})]}),(0,P.jsx)(`td`,{className:`number`,children:e.cached?`cached`:e.requestCharge.toFixed(2)})]})}var H=Object.assign({"./examples/comments.graphql":`# Q4: a post’s comments. One query
# in one partition, and a point
# read that checks the post.
query Comments($postId: ID!) {
  post(id: $postId) {
    title
    comments(first: 20, order: NEWEST_FIRST) {
      totalCount
      nodes {
        id
        content
        author {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/create-comment.graphql":`# C3: comment on a post. A stored
# procedure also counts the comment.
mutation CreateComment($postId: ID!, $content: String!) {
  createComment(input: { postId: $postId, content: $content }) {
    comment {
      id
      content
    }
    post {
      id
      commentCount
    }
  }
}
`,"./examples/create-post.graphql":`# C2: publish a post. Its copies
# in lists follow within moments.
mutation CreatePost($title: String!, $content: String!) {
  createPost(input: { title: $title, content: $content }) {
    post {
      id
      title
      version
    }
  }
}
`,"./examples/create-user.graphql":`# C1: create a user. To sign in,
# use the key in the toolbar.
mutation CreateUser($username: String!) {
  createUser(input: { username: $username }) {
    user {
      id
      username
      creationDate
    }
  }
}
`,"./examples/feed.graphql":`# Q6: the most recent posts.
# One query in one partition.
query Feed {
  feed(first: 20) {
    nodes {
      id
      title
      excerpt
      author {
        id
        username
      }
      commentCount
      likeCount
      creationDate
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,"./examples/like-post.graphql":`# C4: like a post. A stored
# procedure also counts the like.
mutation LikePost($postId: ID!) {
  likePost(input: { postId: $postId }) {
    like {
      id
    }
    post {
      id
      likeCount
      viewerHasLiked
    }
  }
}
`,"./examples/likes.graphql":`# Q5: a post’s likes. One query
# in one partition, and a point
# read that checks the post.
query Likes($postId: ID!) {
  post(id: $postId) {
    title
    likes(first: 20) {
      totalCount
      nodes {
        id
        user {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/post.graphql":`# Q2: a post with its author’s
# name and counts. One point read.
query Post($postId: ID!) {
  post(id: $postId) {
    id
    title
    content
    author {
      id
      username
    }
    commentCount
    likeCount
    creationDate
  }
}
`,"./examples/user-posts.graphql":`# Q3: a user’s posts. One query in
# one partition, and a point read
# that checks the user.
query UserPosts($userId: ID!) {
  user(id: $userId) {
    username
    posts(first: 20) {
      nodes {
        id
        title
        excerpt
        commentCount
        likeCount
        creationDate
      }
    }
  }
}
`,"./examples/user.graphql":`# Q1: a user. One point read.
query User($userId: ID!) {
  user(id: $userId) {
    id
    username
    creationDate
    postCount
  }
}
`}),U=(e,t,n,r,i)=>({code:e,title:t,articleRU:n,query:H[`./examples/${r}.graphql`],variables:i?W(i):``}),W=e=>JSON.stringify(e,null,2),G=[U(`Q6`,`Recent posts`,16.97,`feed`),U(`C1`,`Create a user`,5.71,`create-user`,{username:``}),U(`Q1`,`A user`,1,`user`,{userId:``}),U(`C2`,`Publish a post`,8.76,`create-post`,{title:`One partition is enough`,content:`Every list of this blog is one query in one partition.`}),U(`Q2`,`A post`,1,`post`,{postId:``}),U(`Q3`,`A user’s posts`,6.46,`user-posts`,{userId:``}),U(`C3`,`Comment on a post`,15.27,`create-comment`,{postId:``,content:`Well said.`}),U(`Q4`,`A post’s comments`,7.72,`comments`,{postId:``}),U(`C4`,`Like a post`,14.67,`like-post`,{postId:``}),U(`Q5`,`A post’s likes`,8.92,`likes`,{postId:``})];function K(e){let t=J(e);return[`postId`,`userId`,`username`].filter(e=>t?.[e]===``)}function q(e,t){let n=J(e);if(!n)return e;for(let r of K(e))n[r]=t[r]??``;return W(n)}function J(e){try{let t=JSON.parse(e);return typeof t==`object`&&t?t:void 0}catch{return}}var Y=()=>matchMedia(`(max-width: 48rem)`).matches,X={title:`Examples`,icon:L,content:se};function se(){let{addTab:e,changeTab:t,setVisiblePlugin:r}=n(),i=p(e=>e.tabs),a=p(e=>e.activeTabIndex),o=p(e=>e.queryEditor),s=p(e=>e.variableEditor),c=({query:e})=>i.findIndex(t=>t.query===e),l=n=>{let i=c(n);i<0?e():i!==a&&t(i),o?.setValue(n.query),s?.setValue(n.variables),Y()&&r(null)};return(0,P.jsxs)(`section`,{className:`examples`,"aria-labelledby":`examples`,children:[(0,P.jsx)(`h2`,{id:`examples`,className:`panel-title`,children:`Examples`}),(0,P.jsxs)(`p`,{className:`panel-text`,children:[`The ten operations of the article that this blog implements. C are commands and need a`,` `,(0,P.jsx)(`span`,{className:`nowrap`,children:`sign-in`}),`, Q are queries. The charge is what the article measured.`]}),(0,P.jsx)(`ol`,{children:G.map(e=>(0,P.jsx)(`li`,{children:(0,P.jsxs)(`button`,{type:`button`,onClick:()=>l(e),"aria-current":c(e)===a?`true`:void 0,children:[(0,P.jsx)(`span`,{className:`code`,children:e.code}),(0,P.jsx)(`span`,{className:`title`,children:e.title}),(0,P.jsx)(`span`,{className:`charge`,children:x(e.articleRU)})]})},e.code))}),(0,P.jsxs)(`p`,{className:`panel-text`,children:[`An empty blog has nothing to read: sign in, and begin with C1. `,(0,P.jsx)(`code`,{children:`cosmosblog seed --users 20`}),` writes sample data.`]})]})}var ce=e(i(),1);function le(){let e=O(),[t,n]=(0,_.useState)(!1);return fe(()=>n(!0)),(0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(d,{label:e?`Signed in as ${e.name}`:`Sign in with a development token`,className:e&&`signed-in`,onClick:()=>n(!0),children:(0,P.jsx)(I,{})}),(0,P.jsxs)(u,{open:t,onOpenChange:n,children:[(0,P.jsxs)(`div`,{className:`graphiql-dialog-header`,children:[(0,P.jsx)(u.Title,{className:`graphiql-dialog-title`,children:`Sign in`}),(0,P.jsx)(u.Close,{})]}),(0,P.jsx)(ue,{onDone:()=>n(!1)})]})]})}function ue({onDone:e}){let n=O(),r=(0,_.useId)(),[i,a]=(0,_.useState)(n?.name??`anna`),[o,s]=(0,_.useState)(``);return(0,P.jsxs)(`form`,{className:`sign-in`,onSubmit:async t=>{t.preventDefault();try{E({name:i,token:await ae(i)}),e()}catch(e){s(e.message)}},children:[(0,P.jsx)(u.Description,{children:`In development, the server signs in any name. The token goes with the operations of all tabs, unless a tab’s headers have another.`}),(0,P.jsx)(`label`,{htmlFor:r,children:`Name`}),(0,P.jsx)(`input`,{id:r,value:i,onChange:e=>a(e.target.value),required:!0,autoFocus:!0,maxLength:255,autoComplete:`username`,spellCheck:!1,"aria-invalid":o!==``,"aria-describedby":`${r}-fault`}),(0,P.jsx)(`p`,{id:`${r}-fault`,className:`fault`,role:`alert`,children:o}),(0,P.jsxs)(`div`,{className:`buttons`,children:[n&&(0,P.jsx)(t,{type:`button`,onClick:()=>(E(),e()),children:`Sign out`}),(0,P.jsx)(t,{type:`submit`,className:`primary`,children:`Sign in`})]})]})}var Z=new EventTarget,de=()=>Z.dispatchEvent(new Event(`sign-in`));function fe(e){(0,_.useEffect)(()=>(Z.addEventListener(`sign-in`,e),()=>Z.removeEventListener(`sign-in`,e)),[e])}var Q=e=>e.tabs[e.activeTabIndex]?.id;function pe(){$();let e=p(Q);(0,_.useEffect)(()=>{document.querySelector(`.graphiql-tab-active`)?.scrollIntoView({block:`nearest`,inline:`nearest`})},[e])}function $(){let e=O(),t=p(e=>e.variableEditor),n=p(Q),r=p(e=>e.isFetching),i=p(e=>e.tabs[e.activeTabIndex]?.query);(0,_.useEffect)(()=>{let n=t?.getValue()??``,i=K(n);if(!t||r||i.length===0)return;let a=!0;return(i.some(e=>e!==`username`)?oe():Promise.resolve({})).then(r=>{let i=q(n,{...r,username:e?.name});a&&t.getValue()===n&&i!==n&&t.setValue(i)},()=>{}),()=>{a=!1}},[e,t,n,r,i])}function me(){pe();let e=he(),{last:n}=b();return n?(0,P.jsxs)(`div`,{className:`footer`,role:`status`,children:[n.cosmos&&(0,P.jsx)(t,{type:`button`,className:`total`,onClick:e,children:x(n.cosmos.requestCharge)}),n.cosmos&&(0,P.jsx)(`span`,{children:ge(n.cosmos.requests)}),(0,P.jsxs)(`span`,{children:[Math.round(n.milliseconds),` ms`]}),(0,P.jsx)(`span`,{children:_e(n.bytes)}),(0,P.jsx)(ve,{codes:n.codes})]}):(0,P.jsx)(`p`,{className:`footer`,children:`The charge of each answer is shown here.`})}function he(){let{setVisiblePlugin:e}=n();return()=>{(0,ce.flushSync)(()=>e(null)),document.querySelector(`[aria-label="Show ${R.title}"]`).click()}}function ge(e){let t=e.filter(e=>!e.cached).length,n=e.length-t;if(n>0&&t===0)return`${n} cached`;let r=`${t} ${t===1?`request`:`requests`}`;return n>0?`${r}, ${n} cached`:r}var _e=e=>e<1e3?`${e} bytes`:`${(e/1e3).toFixed(1)} kB`;function ve({codes:e}){let r=O(),{run:i}=n(),[a,o]=(0,_.useState)(``);return e.includes(`UNAUTHENTICATED`)?(0,P.jsx)(t,{type:`button`,className:`next`,onClick:de,children:`Sign in`}):!e.includes(`USER_REQUIRED`)||!r?null:(0,P.jsxs)(P.Fragment,{children:[(0,P.jsxs)(t,{type:`button`,className:`next`,onClick:async()=>{try{await N(`mutation ($username: String!) { createUser(input: { username: $username }) { user { id } } }`,{username:r.name}),i()}catch(e){o(e.message)}},children:[`Create the user `,r.name]}),a&&(0,P.jsx)(`span`,{className:`fault`,children:a})]})}var ye=G.map(({query:e,variables:t})=>({query:e,variables:t})),be=[s,X,R];(0,g.createRoot)(document.getElementById(`root`)).render((0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(`h1`,{className:`hidden`,children:`GraphiQL of cosmosblog`}),(0,P.jsxs)(f,{fetcher:re,plugins:be,visiblePlugin:Y()?void 0:X,defaultTabs:ye,shouldPersistHeaders:!1,showPersistHeadersSettings:!1,defaultEditorToolsVisibility:`variables`,schemaDescription:!0,children:[(0,P.jsx)(f.Logo,{children:(0,P.jsxs)(`a`,{className:`logo`,href:`/`,children:[(0,P.jsx)(`img`,{src:`/playground/icon.svg`,alt:``,width:`22`,height:`22`}),`cosmosblog`]})}),(0,P.jsx)(f.Toolbar,{children:({prettify:e,copy:t,merge:n})=>(0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(le,{}),e,n,t]})}),(0,P.jsx)(f.Footer,{children:(0,P.jsx)(me,{})})]})]}));